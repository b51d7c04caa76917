package credentials

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/restclienttest"
)

func TestToken(t *testing.T) {
	token, err := NewToken(" " + secret + "\n")
	require.NoError(t, err)
	assert.Equal(t, "Bearer "+secret, header(t, token))
	assert.Nil(t, clientCertificate(t, token))
	req := sent(t, token)
	token.Unauthorized(req)
	assert.Equal(t, "Bearer "+secret, header(t, token), "there is no other token")
	assertHides(t, token)
	assert.Equal(t, "bearer token", fmt.Sprint(token))

	for _, bad := range []string{"", " \n", secret + "\nX-Injected: 1", secret + " " + secret, secret + "\x7f"} {
		_, err := NewToken(bad)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), secret)
	}
}

func TestSecretsNeedASafeTransport(t *testing.T) {
	token, err := NewToken(secret)
	require.NoError(t, err)
	all := []restclient.Credentials{token, newTokenFile(t, tempFile(t, secret)), newPlugin(t, pluginToken(secret))}
	const safe = "https://10.0.0.1:6443/x wss://example.com http://127.0.0.1:8001 http://127.8.9.10 ws://[::1]:8001 " +
		"http://LocalHost.:8001 http://demo.localhost"
	const unsafe = "http://10.0.0.1 ws://example.com http://localhost.example.com http://notlocalhost " +
		"http://127.0.0.1.example.com http://0.0.0.0 ftp://127.0.0.1"
	for _, target := range strings.Fields(safe + " " + unsafe) {
		u, err := url.Parse(target)
		require.NoError(t, err)
		allowed := strings.Contains(safe, target)
		assert.Equal(t, allowed, Allowed(u), target)
		for _, c := range all {
			req := &http.Request{URL: u, Header: http.Header{}}
			err := c.Apply(req.WithContext(t.Context()))
			if allowed {
				assert.NoError(t, err, "%v to %s", c, target)
				assert.NotEmpty(t, req.Header.Get("Authorization"))
				continue
			}
			assert.EqualError(t, err, "credentials are not sent to "+u.Host+" over plain http: use https, or "+
				"\"kubectl proxy\" on this machine")
			assert.Empty(t, req.Header)
		}
	}
}

func TestImpersonation(t *testing.T) {
	i := &Impersonation{UserName: "jane", Groups: []string{"a", "b"}}
	// Over plain http too: without the headers the request would have more rights.
	req := httptest.NewRequest(http.MethodGet, "http://10.0.0.1/", nil)
	req.Header.Set("Impersonate-Group", "left-over")
	for range 2 {
		require.NoError(t, i.Apply(req))
		assert.Equal(t, http.Header{"Impersonate-User": {"jane"}, "Impersonate-Group": {"a", "b"}}, req.Header)
	}
	assert.Error(t, (&Impersonation{Groups: []string{"g"}}).Apply(request(t)), "it would have no effect")
}

// spy counts its calls.
type spy struct {
	noCertificate
	err          error
	unauthorized int
}

func (s *spy) Apply(*http.Request) error    { return s.err }
func (s *spy) Unauthorized(_ *http.Request) { s.unauthorized++ }

func TestJoin(t *testing.T) {
	assert.Nil(t, Join())
	assert.Nil(t, Join(nil, nil))
	first, second := restclienttest.Bearer("first"), restclienttest.Bearer("second")
	assert.Equal(t, first, Join(nil, first))

	s := &spy{}
	token, err := NewToken(secret)
	require.NoError(t, err)
	other, err := NewToken("other")
	require.NoError(t, err)
	joined := Join(token, nil, s, other, newCertificate(t, "one"), newCertificate(t, "two"),
		&Impersonation{UserName: "jane"})
	req := sent(t, joined)
	assert.Equal(t, "Bearer "+secret, req.Header.Get("Authorization"), "the first one wins")
	assert.Equal(t, "jane", req.Header.Get("Impersonate-User"))
	assert.Equal(t, "one", clientCertificate(t, joined).Leaf.Subject.CommonName)
	joined.Unauthorized(req)
	assert.Equal(t, 1, s.unauthorized)
	assertHides(t, joined)
	assert.Nil(t, clientCertificate(t, Join(first, second)))

	s.err = errors.New("no")
	assert.Equal(t, s.err, joined.Apply(request(t)))
}

const secret = "s3cret"

// request returns a request to a server to which credentials may be sent.
func request(t *testing.T) *http.Request {
	return httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://10.0.0.1/", nil)
}

// sent returns a request with the credentials applied.
func sent(t *testing.T, c restclient.Credentials) *http.Request {
	t.Helper()
	req := request(t)
	require.NoError(t, c.Apply(req))
	return req
}

// header returns the Authorization header of the credentials.
func header(t *testing.T, c restclient.Credentials) string {
	t.Helper()
	return sent(t, c).Header.Get("Authorization")
}

func clientCertificate(t *testing.T, c restclient.Credentials) *tls.Certificate {
	t.Helper()
	cert, err := c.ClientCertificate()
	require.NoError(t, err)
	return cert
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func tempFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, content)
	return path
}

// assertHides checks that no fmt verb shows the secret, even one that does not fit the type.
func assertHides(t *testing.T, value any) {
	t.Helper()
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		for _, nested := range []any{value, []any{value}, struct{ Field any }{value}} {
			text := fmt.Sprintf(format, nested)
			assert.NotContains(t, text, secret)
			assert.NotContains(t, text, fmt.Sprintf("%x", secret))
		}
	}
}

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
		assert.Equal(t, "client certificate in "+cfg.CertFile, fmt.Sprint(cert), "what a user reads of it")
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
