package controlplane

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

func TestControllers(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		want   []string
	}{
		"default": {
			want: append(DefaultControllers(), "-namespace-controller"),
		},
		"with the namespace controller": {
			config: Config{NamespaceController: true},
			want:   append(DefaultControllers(), "namespace-controller"),
		},
		"all but the namespace controller": {
			config: Config{Controllers: []string{"*"}},
			want:   []string{"*", "-namespace-controller"},
		},
		"NamespaceController alone decides": {
			config: Config{Controllers: []string{"namespace-controller", "*"}},
			want:   []string{"*", "-namespace-controller"},
		},
		"also when the list excludes it": {
			config: Config{Controllers: []string{"-namespace-controller", "*"}, NamespaceController: true},
			want:   []string{"*", "namespace-controller"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, test.config.controllers())
		})
	}
}

func TestRuns(t *testing.T) {
	assert.True(t, Config{}.runs(serviceAccountController))
	assert.False(t, Config{}.runs(namespaceController))
	assert.True(t, Config{NamespaceController: true}.runs(namespaceController))
	assert.False(t, Config{Controllers: []string{}}.runs(serviceAccountController), "an empty list is not the default one")
	assert.True(t, Config{Controllers: []string{"*"}}.runs(serviceAccountController))
	assert.False(t, Config{Controllers: []string{"-serviceaccount-controller", "*"}}.runs(serviceAccountController))
}

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
