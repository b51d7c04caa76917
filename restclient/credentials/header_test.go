package credentials

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	assert.Error(t, (&Impersonation{Groups: []string{"g"}}).Apply(request(t)), "without a user name it would have no effect")
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
