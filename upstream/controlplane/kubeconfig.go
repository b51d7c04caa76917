package controlplane

import (
	"fmt"

	"orrery/restclient/kubeconfig"
)

// clusterName is the name of cluster and context in every kubeconfig.
const clusterName = "orrery"

// writeKubeconfig writes a kubeconfig with one cluster, one user and one context, readable by its
// owner only.
func writeKubeconfig(path, server string, caPEM []byte, user string, pair keyPair) error {
	config := &kubeconfig.Config{
		CurrentContext: clusterName,
		Clusters:       map[string]*kubeconfig.Cluster{clusterName: {Server: server, CertificateAuthorityData: caPEM}},
		Users: map[string]*kubeconfig.User{
			user: {ClientCertificateData: pair.CertPEM, ClientKeyData: pair.KeyPEM},
		},
		Contexts: map[string]*kubeconfig.Context{clusterName: {Cluster: clusterName, User: user}},
	}
	if err := config.WriteFile(path); err != nil {
		return fmt.Errorf("write the kubeconfig of %s: %w", user, err)
	}
	return nil
}
