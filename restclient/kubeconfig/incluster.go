package kubeconfig

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"orrery/restclient"
	"orrery/restclient/credentials"
)

// DefaultServiceAccountDir is where the kubelet puts the service account of a pod: token, ca.crt and namespace.
const DefaultServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

const (
	serviceHostVariable = "KUBERNETES_SERVICE_HOST"
	servicePortVariable = "KUBERNETES_SERVICE_PORT"
)

// inCluster tells whether this is a pod: the kubelet sets these variables in every container.
func inCluster(opts Options) bool {
	return opts.getenv(serviceHostVariable) != "" && opts.getenv(servicePortVariable) != ""
}

// loadInCluster uses the service account of the pod. Token and CA are read again when the kubelet renews them.
func loadInCluster(opts Options, info *Info) (restclient.Config, error) {
	dir := opts.ServiceAccountDir
	if dir == "" {
		dir = DefaultServiceAccountDir
	}
	token, err := credentials.NewTokenFile(credentials.TokenFileConfig{Path: filepath.Join(dir, "token")})
	if err != nil {
		return restclient.Config{}, &InClusterError{Err: err}
	}
	caFile := filepath.Join(dir, "ca.crt")
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return restclient.Config{}, &InClusterError{Err: err}
	}
	if !hasCertificate(ca) {
		return restclient.Config{}, &InClusterError{Err: fmt.Errorf("%s holds no PEM certificate", caFile)}
	}
	info.InCluster = true
	if namespace, err := os.ReadFile(filepath.Join(dir, "namespace")); err == nil && len(namespace) > 0 {
		info.Namespace = strings.TrimSpace(string(namespace))
	}
	return restclient.Config{
		Host:        "https://" + net.JoinHostPort(opts.getenv(serviceHostVariable), opts.getenv(servicePortVariable)),
		TLS:         restclient.TLS{CAFile: caFile},
		Credentials: token,
	}, nil
}
