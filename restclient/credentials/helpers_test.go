package credentials

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
)

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
