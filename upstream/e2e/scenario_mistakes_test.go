package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"orrery/upstream/controlplane"
)

// A mistake ends the program with exit code 1 and one sentence of advice, without a stack trace or
// secrets.
func TestMistakesAgainstRealServer(t *testing.T) {
	cp := onVacantCluster(t, Kubernetes()).(*controlplane.ControlPlane)
	good, err := cp.KubeconfigFor(ControllerIdentity)
	require.NoError(t, err)
	stranger := selfSigned(t, ControllerIdentity)
	tests := []struct {
		name string
		// kubeconfig writes the file and returns its path.
		kubeconfig func(t *testing.T) string
		want       []string
	}{
		{
			name: "the server's certificate is of another authority",
			kubeconfig: changedKubeconfig(good, func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.CertificateAuthorityData = stranger.certificate
			}),
			want: []string{"certificate", "check certificate-authority in the kubeconfig"},
		},
		{
			name: "no authority",
			kubeconfig: changedKubeconfig(good, func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.CertificateAuthorityData = nil
			}),
			want: []string{"certificate", "check certificate-authority in the kubeconfig"},
		},
		{
			name: "another name than the certificate's",
			kubeconfig: changedKubeconfig(good, func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.TLSServerName = "elsewhere.example.com"
			}),
			want: []string{"certificate", "tls-server-name"},
		},
		{
			name: "client certificate of another authority",
			kubeconfig: changedKubeconfig(good, func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
				user.ClientCertificateData, user.ClientKeyData = stranger.certificate, stranger.key
			}),
			want: []string{"does not accept these credentials", "check the user in the kubeconfig"},
		},
		{
			name: "client certificate has expired",
			kubeconfig: func(t *testing.T) string {
				path, err := cp.ExpiredKubeconfigFor(ControllerIdentity)
				require.NoError(t, err)
				return path
			},
			want: []string{"does not accept these credentials", "check the user in the kubeconfig"},
		},
		{
			name: "unknown token",
			kubeconfig: changedKubeconfig(good, func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
				*user = clientcmdapi.AuthInfo{Token: "canary.in-the-mine.0123456789"}
			}),
			want: []string{"does not accept these credentials", "check the user in the kubeconfig"},
		},
		{
			name: "no credentials",
			kubeconfig: changedKubeconfig(good, func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
				*user = clientcmdapi.AuthInfo{}
			}),
			want: []string{"system:anonymous", "this user may not do that"},
		},
		{
			name: "a user without any rights",
			kubeconfig: func(t *testing.T) string {
				path, err := cp.KubeconfigFor("stranger")
				require.NoError(t, err)
				return path
			},
			want: []string{`"stranger" cannot list resource "namespaces"`, "this user may not do that", "orrery rbac"},
		},
		{
			name: "http in place of https",
			kubeconfig: changedKubeconfig(good, func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.Server = strings.Replace(cluster.Server, "https:", "http:", 1)
			}),
			want: []string{"check the server address in the kubeconfig"},
		},
		{
			name: "a path that leads nowhere",
			kubeconfig: changedKubeconfig(cp.Kubeconfig(), func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.Server += "/clusters/one"
			}),
			want: []string{"not a Kubernetes API server", "check the server address in the kubeconfig"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kubeconfig := test.kubeconfig(t)
			orrery := runOrrery(t, kubeconfig, "-v3")
			assert.Equal(t, 1, orrery.AwaitExit())
			output := orrery.Output()
			lines := strings.Split(strings.TrimSpace(output), "\n")
			sentence := lines[len(lines)-1]
			assert.True(t, strings.HasPrefix(sentence, "orrery: "), "the last line is the message: %s", sentence)
			assert.Equal(t, 1, strings.Count(output, "orrery: "), "the message appears once")
			for _, want := range test.want {
				assert.Contains(t, sentence, want)
			}
			assert.NotContains(t, output, "goroutine ")
			assert.NotContains(t, output, "panic")
			assertNoSecrets(t, kubeconfig, output)
		})
	}
}

// changedKubeconfig returns a function that writes a good kubeconfig file with one change.
func changedKubeconfig(good string, change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		config, err := clientcmd.LoadFromFile(good)
		require.NoError(t, err)
		current := config.Contexts[config.CurrentContext]
		change(config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo])
		path := filepath.Join(t.TempDir(), "kubeconfig")
		require.NoError(t, clientcmd.WriteToFile(*config, path))
		return path
	}
}

// assertNoSecrets checks that the output has no secret of the kubeconfig in any encoding.
func assertNoSecrets(t *testing.T, kubeconfig, output string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	require.NoError(t, err)
	for _, user := range config.AuthInfos {
		if user.Token != "" {
			assert.NotContains(t, output, user.Token)
		}
		if len(user.ClientKeyData) == 0 {
			continue
		}
		block, _ := pem.Decode(user.ClientKeyData)
		require.NotNil(t, block)
		// A prefix is found despite line breaks.
		assert.NotContains(t, output, base64.StdEncoding.EncodeToString(block.Bytes)[:40])
		assert.NotContains(t, output, base64.StdEncoding.EncodeToString(user.ClientKeyData)[:40])
		assert.NotContains(t, output, "PRIVATE KEY")
	}
}

// pemPair is a certificate with its key.
type pemPair struct{ certificate, key []byte }

// selfSigned returns a new certificate that no authority of the cluster has signed.
func selfSigned(t *testing.T, name string) pemPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return pemPair{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
	}
}
