package controlplane

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

// client-go reads the file as kubectl does.
func TestKubeconfigIsReadByClientGo(t *testing.T) {
	ca, err := newAuthority("ca")
	require.NoError(t, err)
	pair, err := ca.client("jane", "readers")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, writeKubeconfig(path, "https://127.0.0.1:6443", ca.certPEM, "jane", pair))

	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	assert.Equal(t, "https://127.0.0.1:6443", config.Host)
	assert.Equal(t, ca.certPEM, config.TLSClientConfig.CAData)
	assert.Equal(t, pair.CertPEM, config.TLSClientConfig.CertData)
	assert.Equal(t, pair.KeyPEM, config.TLSClientConfig.KeyData)
	assert.False(t, config.TLSClientConfig.Insecure)

	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it holds a private key")
}

func TestFileName(t *testing.T) {
	for user, want := range map[string]string{
		"jane":                         "jane",
		"system:serviceaccount:ns:n.a": "system-serviceaccount-ns-n.a",
		"../../etc/passwd":             "..-..-etc-passwd",
		"Jürgen":                       "J-rgen",
	} {
		assert.Equal(t, want, fileName(user))
	}
}
