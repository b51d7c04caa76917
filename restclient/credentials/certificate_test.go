package credentials

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/restclienttest"
)

func newCertificate(t *testing.T, commonName string) *Certificate {
	t.Helper()
	pair := restclienttest.NewPair(t, commonName)
	cert, err := NewCertificate(CertificateConfig{CertData: pair.Cert, KeyData: pair.Key})
	require.NoError(t, err)
	return cert
}

// certificateFiles returns a configuration whose files do not exist yet.
func certificateFiles(t *testing.T) CertificateConfig {
	dir := t.TempDir()
	return CertificateConfig{CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key")}
}

func TestInlineCertificate(t *testing.T) {
	cert := newCertificate(t, "jane")
	assert.Equal(t, "jane", clientCertificate(t, cert).Leaf.Subject.CommonName)
	assert.Same(t, clientCertificate(t, cert), clientCertificate(t, cert), "the pointer is the same while the certificate is")
	assert.Empty(t, sent(t, cert).Header)
	assert.Equal(t, "client certificate", fmt.Sprint(cert))
}

func TestCertificateFilesAreReadAgain(t *testing.T) {
	cfg := certificateFiles(t)
	one, two := restclienttest.NewPair(t, "one"), restclienttest.NewPair(t, "two")
	write(t, cfg.CertFile, string(one.Cert))
	write(t, cfg.KeyFile, string(one.Key))
	cert, err := NewCertificate(cfg)
	require.NoError(t, err)
	first := clientCertificate(t, cert)
	assert.Equal(t, "one", first.Leaf.Subject.CommonName)
	write(t, cfg.CertFile, string(one.Cert))
	assert.Same(t, first, clientCertificate(t, cert), "rewritten with the same content")

	write(t, cfg.CertFile, string(two.Cert))
	assert.Same(t, first, clientCertificate(t, cert), "the files do not fit together yet")
	write(t, cfg.KeyFile, string(two.Key))
	assert.Equal(t, "two", clientCertificate(t, cert).Leaf.Subject.CommonName)
	assert.Equal(t, "client certificate in "+cfg.CertFile, fmt.Sprint(cert))
}

func TestUnreadableCertificateStaysInUseUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := certificateFiles(t)
		pair := restclienttest.NewPair(t, "jane")
		write(t, cfg.CertFile, string(pair.Cert))
		write(t, cfg.KeyFile, string(pair.Key))
		cert, err := NewCertificate(cfg)
		require.NoError(t, err)
		require.NoError(t, os.Remove(cfg.KeyFile))
		assert.NotNil(t, clientCertificate(t, cert))
		time.Sleep(2 * time.Hour)
		_, err = cert.ClientCertificate()
		assert.EqualError(t, err, "cannot use the client key file "+cfg.KeyFile+": no such file or directory")
	})
}

func TestCertificateErrors(t *testing.T) {
	cfg := certificateFiles(t)
	_, err := NewCertificate(cfg)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.EqualError(t, err, "cannot use the client certificate file "+cfg.CertFile+": no such file or directory")

	pair, other := restclienttest.NewPair(t, "jane"), restclienttest.NewPair(t, "joe")
	write(t, cfg.CertFile, string(pair.Cert))
	write(t, cfg.KeyFile, "")
	_, err = NewCertificate(cfg)
	assert.EqualError(t, err, "cannot use the client key file "+cfg.KeyFile+": the file is empty")

	for _, key := range []string{string(other.Key), secret, string(pair.Cert)} {
		write(t, cfg.KeyFile, key)
		_, err = NewCertificate(cfg)
		assert.ErrorContains(t, err, "the client certificate cannot be used: ")
		assert.NotContains(t, err.Error(), secret)
	}
}
