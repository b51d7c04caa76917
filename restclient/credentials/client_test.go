package credentials_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/credentials"
	"orrery/restclient/restclienttest"
)

// These tests use the credentials with a client, to check what each promises the other.

// wants answers 401 unless the Authorization header is the wanted one.
type wants struct{ header string }

func (w *wants) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != w.header {
		out.WriteHeader(http.StatusUnauthorized)
	}
}

func tlsServer(t *testing.T, handler http.Handler) (*restclienttest.Server, *restclienttest.Authority) {
	authority := restclienttest.NewAuthority(t)
	return restclienttest.NewTLSServer(t, handler, authority, func(*tls.Config) {}), authority
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

func with(c restclient.Credentials) func(*restclient.Config) {
	return func(cfg *restclient.Config) { cfg.Credentials = c }
}

// The kubelet writes a new token within the minute, and the server rejects the old one: the
// program's requests still succeed.
func TestRefusedTokenIsReplacedByTheNewOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		write(t, path, []byte("old"))
		file, err := credentials.NewTokenFile(credentials.TokenFileConfig{Path: path})
		require.NoError(t, err)
		handler := &wants{header: "Bearer old"}
		server, _ := tlsServer(t, handler)
		client := server.Client(with(file))
		require.NoError(t, client.Do(t.Context(), restclient.Request{Path: "/"}, nil))

		write(t, path, []byte("new"))
		handler.header = "Bearer new"
		require.NoError(t, client.Do(t.Context(), restclient.Request{Path: "/"}, nil))
		assert.Len(t, server.Requests(), 3, "one was refused and repeated")

		handler.header = "Bearer third"
		err = client.Do(t.Context(), restclient.Request{Path: "/"}, nil)
		assert.True(t, api.IsUnauthorized(err))
		assert.Len(t, server.Requests(), 4, "no new token to repeat it with")
	})
}

func TestNoTokenOverPlainHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token, err := credentials.NewToken("t0ken")
		require.NoError(t, err)
		server := restclienttest.NewServer(t, &wants{header: "Bearer t0ken"})
		err = server.Client(with(token)).Do(t.Context(), restclient.Request{Path: "/"}, nil)
		var transport *restclient.TransportError
		require.ErrorAs(t, err, &transport)
		assert.Equal(t, restclient.CredentialsFailed, transport.Kind)
		var insecure *credentials.InsecureTransportError
		require.ErrorAs(t, err, &insecure)
		assert.Empty(t, server.Requests())

		loopback := func(cfg *restclient.Config) { cfg.Host = "http://127.0.0.1:8001" }
		require.NoError(t, server.Client(with(token), loopback).Do(t.Context(), restclient.Request{Path: "/"}, nil))
	})
}
