package controlplane

import (
	"encoding/json"
	"fmt"
	"os"
)

// A kubeconfig file for one server and one user with everything inline. JSON is a subset of YAML,
// so this package needs no YAML library.
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
			// encoding/json encodes []byte as base64, as the -data fields require.
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

// clusterName is the name of cluster and context in every file.
const clusterName = "orrery"

// writeKubeconfig writes a file with one cluster, one user and one context, readable by its owner
// only.
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
