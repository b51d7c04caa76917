package credentials

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
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

func TestBasic(t *testing.T) {
	basic := NewBasic("admin", secret+":x")
	req := sent(t, basic)
	name, password, ok := req.BasicAuth()
	require.True(t, ok)
	assert.Equal(t, []string{"admin", secret + ":x"}, []string{name, password})
	assertHides(t, basic)
	assert.NotContains(t, fmt.Sprintf("%v %d", basic, basic),
		base64.StdEncoding.EncodeToString([]byte("admin:"+secret)))
}

func TestSecretsNeedASafeTransport(t *testing.T) {
	token, err := NewToken(secret)
	require.NoError(t, err)
	all := map[string]restclient.Credentials{
		"token": token, "basic": NewBasic("admin", secret), "file": newTokenFile(t, tempFile(t, secret)),
		"exec": newPlugin(t, pluginToken(secret)),
	}
	for _, target := range []struct {
		url     string
		allowed bool
	}{
		{"https://10.0.0.1:6443/x", true},
		{"wss://example.com", true},
		{"http://127.0.0.1:8001", true},
		{"http://127.8.9.10", true},
		{"ws://[::1]:8001", true},
		{"http://LocalHost.:8001", true},
		{"http://demo.localhost", true},
		{"http://10.0.0.1", false},
		{"ws://example.com", false},
		{"http://localhost.example.com", false},
		{"http://notlocalhost", false},
		{"http://127.0.0.1.example.com", false},
		{"http://0.0.0.0", false},
		{"ftp://127.0.0.1", false},
	} {
		u, err := url.Parse(target.url)
		require.NoError(t, err)
		assert.Equal(t, target.allowed, Allowed(u), target.url)
		for kind, c := range all {
			req := &http.Request{URL: u, Header: http.Header{}}
			err := c.Apply(req.WithContext(t.Context()))
			if target.allowed {
				assert.NoError(t, err, "%s to %s", kind, target.url)
				assert.NotEmpty(t, req.Header.Get("Authorization"))
				continue
			}
			var insecure *InsecureTransportError
			require.ErrorAs(t, err, &insecure, "%s to %s", kind, target.url)
			assert.Equal(t, u.Host, insecure.Host)
			assert.Empty(t, req.Header)
		}
	}
	assert.Equal(t, `credentials are not sent to h:80 over plain http: use https, or "kubectl proxy" on this machine`,
		(&InsecureTransportError{Host: "h:80"}).Error())
}

func TestImpersonation(t *testing.T) {
	i := &Impersonation{
		UserName: "jane", UID: "42", Groups: []string{"a", "b"},
		Extra: map[string][]string{"scopes": {"view", "edit"}, "acme.com/a b%ü!": {"x"}},
	}
	// Over plain http too: without the headers the request would have more rights.
	req := httptest.NewRequest(http.MethodGet, "http://10.0.0.1/", nil)
	req.Header.Set("Impersonate-Group", "left-over")
	require.NoError(t, i.Apply(req))
	require.NoError(t, i.Apply(req), "applying twice is like once")
	assert.Equal(t, http.Header{
		"Impersonate-User": {"jane"}, "Impersonate-Uid": {"42"}, "Impersonate-Group": {"a", "b"},
		"Impersonate-Extra-Scopes":                       {"view", "edit"},
		"Impersonate-Extra-Acme.com%2fa%20b%25%c3%bc%21": {"x"},
	}, req.Header)
	unescaped, err := url.PathUnescape("acme.com%2fa%20b%25%c3%bc%21")
	require.NoError(t, err)
	assert.Equal(t, "acme.com/a b%ü!", unescaped, "the value that the server decodes")
	assert.Nil(t, clientCertificate(t, i))

	assert.Empty(t, sent(t, &Impersonation{}).Header)
	for _, half := range []*Impersonation{{UID: "1"}, {Groups: []string{"g"}},
		{Extra: map[string][]string{"k": {"v"}}}} {
		assert.ErrorIs(t, half.Apply(request(t)), ErrNoImpersonatedUser)
	}
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
	first, second := NewBasic("first", secret), NewBasic("second", secret)
	assert.Same(t, first, Join(nil, first))

	s := &spy{}
	cert := newCertificate(t, "one")
	joined := Join(first, nil, s, second, cert, newCertificate(t, "two"), &Impersonation{UserName: "jane"})
	req := sent(t, joined)
	name, _, _ := req.BasicAuth()
	assert.Equal(t, "first", name)
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
