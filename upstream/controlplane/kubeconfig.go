package controlplane

import (
	"encoding/json"
	"fmt"
	"os"
)

// The kubeconfig file, as far as it is needed to reach one server as one user with everything inline. JSON is a subset
// of YAML, so every reader of kubeconfig files accepts it, and this package needs no YAML library.
type (
	kubeconfigFile struct {
		APIVersion     string              `json:"apiVersion"`
		Kind           string              `json:"kind"`
		Clusters       []kubeconfigCluster `json:"clusters"`
		Users          []kubeconfigUser    `json:"users"`
		Contexts       []kubeconfigContext `json:"contexts"`
		CurrentContext string              `json:"current-context"`
	}
	kubeconfigCluster struct {
		Name    string `json:"name"`
		Cluster struct {
			Server string `json:"server"`
			// []byte is base64 in JSON, which is what the -data fields want.
			CertificateAuthorityData []byte `json:"certificate-authority-data"`
		} `json:"cluster"`
	}
	kubeconfigUser struct {
		Name string `json:"name"`
		User struct {
			ClientCertificateData []byte `json:"client-certificate-data"`
			ClientKeyData         []byte `json:"client-key-data"`
		} `json:"user"`
	}
	kubeconfigContext struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	}
)

// clusterName names the cluster and the context in every kubeconfig file that this package writes.
const clusterName = "orrery"

// writeKubeconfig writes a file with one cluster, one user and one context, readable by its owner only.
func writeKubeconfig(path, server string, caPEM []byte, user string, pair keyPair) error {
	var cluster kubeconfigCluster
	cluster.Name = clusterName
	cluster.Cluster.Server = server
	cluster.Cluster.CertificateAuthorityData = caPEM

	var account kubeconfigUser
	account.Name = user
	account.User.ClientCertificateData = pair.CertPEM
	account.User.ClientKeyData = pair.KeyPEM

	var current kubeconfigContext
	current.Name = clusterName
	current.Context.Cluster = clusterName
	current.Context.User = user

	data, err := json.MarshalIndent(kubeconfigFile{
		APIVersion:     "v1",
		Kind:           "Config",
		Clusters:       []kubeconfigCluster{cluster},
		Users:          []kubeconfigUser{account},
		Contexts:       []kubeconfigContext{current},
		CurrentContext: clusterName,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the kubeconfig of %s: %w", user, err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig of %s: %w", user, err)
	}
	return nil
}
