package apiserver_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
)

func request(headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/api", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func certificates(t *testing.T, chain ...[]byte) *tls.ConnectionState {
	t.Helper()
	state := &tls.ConnectionState{}
	for _, text := range chain {
		block, _ := pem.Decode(text)
		require.NotNil(t, block)
		certificate, err := x509.ParseCertificate(block.Bytes)
		require.NoError(t, err)
		state.PeerCertificates = append(state.PeerCertificates, certificate)
	}
	return state
}

func TestClientCertificates(t *testing.T) {
	known, err := apiserver.NewAuthority()
	require.NoError(t, err)
	stranger, err := apiserver.NewAuthority()
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(known.Certificate())
	a := &apiserver.Authenticator{ClientCAs: pool,
		Tokens: map[string]apiserver.User{"secret": {Name: "token"}}}

	good, key, err := known.IssueClient(apiserver.User{Name: "joe", Groups: []string{"devs"}})
	require.NoError(t, err)
	_, err = tls.X509KeyPair(good, key)
	require.NoError(t, err)
	r := request("Authorization", "Bearer wrong")
	r.TLS = certificates(t, good, known.PEM())
	user, ok := a.Authenticate(r)
	require.True(t, ok, "a valid certificate takes precedence over an invalid token")
	assert.Equal(t, apiserver.User{Name: "joe", Groups: []string{"devs", apiserver.GroupAuthenticated}}, user)

	foreign, _, err := stranger.IssueClient(apiserver.User{Name: "joe"})
	require.NoError(t, err)
	nameless, _, err := known.IssueClient(apiserver.User{})
	require.NoError(t, err)
	server, err := known.IssueServer([]string{"127.0.0.1", "orrery.test"})
	require.NoError(t, err)
	assert.NoError(t, server.Leaf.VerifyHostname("orrery.test"))
	assert.NoError(t, server.Leaf.VerifyHostname("127.0.0.1"))
	wrongUse := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate[0]})
	for name, bad := range map[string][]byte{"foreign": foreign, "nameless": nameless, "a server's": wrongUse} {
		r := request()
		r.TLS = certificates(t, bad)
		_, ok := a.Authenticate(r)
		assert.False(t, ok, name)
		r.Header.Set("Authorization", "Bearer secret")
		user, ok := a.Authenticate(r)
		require.True(t, ok, "a valid token suffices")
		assert.Equal(t, "token", user.Name)
	}
}
