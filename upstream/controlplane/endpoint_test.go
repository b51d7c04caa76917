package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newTestServer serves handler over TLS, to clients of its own authority only.
func newTestServer(t *testing.T, handler http.HandlerFunc) (url string, ca *authority) {
	t.Helper()
	ca, err := newAuthority("ca")
	require.NoError(t, err)
	pair, err := ca.server("server")
	require.NoError(t, err)
	cert, err := tls.X509KeyPair(pair.CertPEM, pair.KeyPEM)
	require.NoError(t, err)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(ca.certPEM)

	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, ca
}

func TestEndpoint(t *testing.T) {
	url, ca := newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		user := r.TLS.PeerCertificates[0].Subject.CommonName
		switch r.Method + " " + r.URL.Path {
		case "GET /whoami":
			assert.NoError(t, json.NewEncoder(w).Encode(map[string]string{"user": user}))
		case "POST /echo":
			assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
			var body any
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
			assert.NoError(t, json.NewEncoder(w).Encode(body))
		default:
			http.Error(w, "not ready yet", http.StatusServiceUnavailable)
		}
	})
	pair, err := ca.client("jane")
	require.NoError(t, err)
	e, err := newEndpoint(url, ca.certPEM, pair)
	require.NoError(t, err)

	var answer map[string]string
	require.NoError(t, e.get(t.Context(), "/whoami", &answer))
	assert.Equal(t, map[string]string{"user": "jane"}, answer)
	require.NoError(t, e.post(t.Context(), "/echo", map[string]string{"a": "b"}, &answer))
	assert.Equal(t, "b", answer["a"])

	var status *statusError
	require.ErrorAs(t, e.get(t.Context(), "/readyz", nil), &status)
	assert.Equal(t, http.StatusServiceUnavailable, status.code)
	assert.Equal(t, "not ready yet", status.body)
	assert.Error(t, e.get(t.Context(), "/whoami", new(int)), "an answer of another shape")
}

func TestEndpointRefusesAStrangersServer(t *testing.T) {
	url, _ := newTestServer(t, func(http.ResponseWriter, *http.Request) {
		t.Error("the request must not arrive")
	})
	stranger, err := newAuthority("stranger")
	require.NoError(t, err)
	pair, err := stranger.client("jane")
	require.NoError(t, err)
	e, err := newEndpoint(url, stranger.certPEM, pair)
	require.NoError(t, err)
	assert.Error(t, e.get(t.Context(), "/whoami", nil))
}

func TestReservedPorts(t *testing.T) {
	seen := map[port]bool{}
	for range 50 {
		p, err := reservePort()
		require.NoError(t, err)
		assert.False(t, seen[p], "port %d was given twice", p)
		seen[p] = true
		assert.GreaterOrEqual(t, int(p), firstPort)
		assert.Less(t, int(p), lastPort)
		listener, err := net.Listen("tcp", p.address())
		require.NoError(t, err, "a reserved port is free to listen on")
		require.NoError(t, listener.Close())
	}
}
