package credentials

import (
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

func TestCertificateFilesAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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

		require.NoError(t, os.Remove(cfg.KeyFile))
		assert.NotNil(t, clientCertificate(t, cert), "what cannot be read stays in use until it expires")
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

func newTokenFile(t *testing.T, path string) *TokenFile {
	t.Helper()
	file, err := NewTokenFile(path)
	require.NoError(t, err)
	return file
}

func TestTokenFileIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tempFile(t, "one\n")
		file := newTokenFile(t, path)
		write(t, path, "two")
		time.Sleep(49 * time.Second)
		assert.Equal(t, "Bearer one", header(t, file), "less than a minute old")
		time.Sleep(time.Second)
		assert.Equal(t, "Bearer two", header(t, file), "ten seconds before the minute is over")
		assert.Nil(t, clientCertificate(t, file))

		require.NoError(t, os.Remove(path))
		time.Sleep(time.Hour)
		assert.Equal(t, "Bearer two", header(t, file), "the old one is used while the file is unreadable")
		write(t, path, " ")
		assert.Equal(t, "Bearer two", header(t, file), "an empty file is being written just now")
		write(t, path, "three")
		assert.Equal(t, "Bearer three", header(t, file), "it is tried again at each request")
	})
}

func TestTokenFileDropsARefusedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tempFile(t, "one")
		file := newTokenFile(t, path)
		refused := sent(t, file)
		write(t, path, "two")
		file.Unauthorized(refused)
		assert.Equal(t, "Bearer two", header(t, file))

		write(t, path, "three")
		file.Unauthorized(refused) // the late answer to an older request
		assert.Equal(t, "Bearer two", header(t, file), "the newer token was not refused")

		// A refused token does not stay in use, even without a better one: the error says what is
		// wrong.
		refused = sent(t, file)
		require.NoError(t, os.Remove(path))
		file.Unauthorized(refused)
		err := file.Apply(request(t))
		var fileError *FileError
		require.ErrorAs(t, err, &fileError)
		assert.Equal(t, path, fileError.Path)
	})
}

func TestTokenFileErrors(t *testing.T) {
	path := tempFile(t, "")
	for content, want := range map[string]string{"": errEmptyFile.Error(), secret + " " + secret: errBadToken.Error()} {
		write(t, path, content)
		_, err := NewTokenFile(path)
		assert.EqualError(t, err, "cannot use the token file "+path+": "+want)
	}
	write(t, path, secret)
	assertHides(t, newTokenFile(t, path))
	require.NoError(t, os.Remove(path))
	_, err := NewTokenFile(path)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.EqualError(t, err, "cannot use the token file "+path+": no such file or directory")
}
