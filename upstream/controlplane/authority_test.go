package controlplane

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parse checks that certificate and key match and returns the certificate.
func parse(t *testing.T, pair keyPair) *x509.Certificate {
	t.Helper()
	cert, err := tls.X509KeyPair(pair.CertPEM, pair.KeyPEM)
	require.NoError(t, err, "certificate and key belong together")
	return cert.Leaf
}

func verify(a *authority, cert *x509.Certificate, name string, usage x509.ExtKeyUsage) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.certPEM)
	_, err := cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}

func TestClientCertificate(t *testing.T) {
	ca, err := newAuthority("ca")
	require.NoError(t, err)
	pair, err := ca.client("jane", "readers", "writers")
	require.NoError(t, err)

	cert := parse(t, pair)
	assert.Equal(t, "jane", cert.Subject.CommonName, "the user")
	assert.ElementsMatch(t, []string{"readers", "writers"}, cert.Subject.Organization, "the groups")
	assert.NoError(t, verify(ca, cert, "", x509.ExtKeyUsageClientAuth))
	assert.Error(t, verify(ca, cert, "", x509.ExtKeyUsageServerAuth), "a client must not pose as a server")
	assert.False(t, cert.IsCA)
}

func TestExpiredClientCertificate(t *testing.T) {
	ca, err := newAuthority("ca")
	require.NoError(t, err)
	pair, err := ca.expiredClient("jane", "readers")
	require.NoError(t, err)

	cert := parse(t, pair)
	assert.Equal(t, "jane", cert.Subject.CommonName)
	assert.True(t, cert.NotBefore.Before(cert.NotAfter), "it was valid once")
	var invalid x509.CertificateInvalidError
	require.ErrorAs(t, verify(ca, cert, "", x509.ExtKeyUsageClientAuth), &invalid)
	assert.Equal(t, x509.Expired, invalid.Reason)
}

func TestServerCertificate(t *testing.T) {
	ca, err := newAuthority("ca")
	require.NoError(t, err)
	pair, err := ca.server("kube-apiserver", "kubernetes.default.svc")
	require.NoError(t, err)

	cert := parse(t, pair)
	for _, name := range []string{"127.0.0.1", "::1", "localhost", "kubernetes.default.svc"} {
		assert.NoError(t, verify(ca, cert, name, x509.ExtKeyUsageServerAuth), name)
	}
	assert.Error(t, verify(ca, cert, "example.com", x509.ExtKeyUsageServerAuth))
	assert.NoError(t, verify(ca, cert, "", x509.ExtKeyUsageClientAuth), "etcd's gateway is a client of etcd")
}

func TestAuthoritiesAreApart(t *testing.T) {
	one, err := newAuthority("one")
	require.NoError(t, err)
	other, err := newAuthority("other")
	require.NoError(t, err)
	pair, err := one.client("admin", "system:masters")
	require.NoError(t, err)

	assert.Error(t, verify(other, parse(t, pair), "", x509.ExtKeyUsageClientAuth))
}

func TestSigningKey(t *testing.T) {
	privatePEM, publicPEM, err := newSigningKey()
	require.NoError(t, err)

	block, rest := pem.Decode(privatePEM)
	require.NotNil(t, block)
	assert.Empty(t, rest)
	private, err := x509.ParseECPrivateKey(block.Bytes)
	require.NoError(t, err)
	block, _ = pem.Decode(publicPEM)
	require.NotNil(t, block)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	require.NoError(t, err)
	assert.True(t, private.PublicKey.Equal(public.(*ecdsa.PublicKey)), "the public key is that of the private one")
}
