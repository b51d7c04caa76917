package restclient_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// kubeLike answers as kube-apiserver does: it accepts any client certificate in the handshake. It
// then answers 401 to one that has expired by its own clock, which may be ahead of ours.
func kubeLike(clockSkew time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().Add(clockSkew)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		if now.After(r.TLS.PeerCertificates[0].NotAfter) {
			answer(w, 401, refusal(401, api.ReasonUnauthorized, "Unauthorized"))
			return
		}
		serveIdentity(w, r)
	}
}

// An expired client certificate is named as the reason, even on a connection that was opened in
// time, and by the server's clock. After a renewal the next request succeeds.
func TestAnExpiredClientCertificateIsNamed(t *testing.T) {
	for _, clockSkew := range []time.Duration{0, 5 * time.Hour, -5 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			authority := restclienttest.NewAuthority(t)
			server := restclienttest.NewTLSServer(t, kubeLike(clockSkew), authority, func(cfg *tls.Config) { cfg.ClientAuth = tls.RequestClientCert })
			short := authority.Issue(t, restclienttest.Leaf{Name: "joe", Valid: 6 * time.Hour})
			credentials := certificateOf(short)
			client := server.Client(func(cfg *restclient.Config) { cfg.Credentials = credentials })
			assert.Equal(t, "HTTP/2.0 joe", ask(t, client))
			time.Sleep(6*time.Hour - clockSkew - time.Minute)
			assert.Equal(t, "HTTP/2.0 joe", ask(t, client), "by the server's clock it is valid still")
			time.Sleep(2 * time.Minute)
			err := client.Do(t.Context(), get("/"), nil)
			var expired *restclient.CertificateExpiredError
			require.ErrorAs(t, err, &expired)
			assert.True(t, api.IsUnauthorized(err))
			assert.Equal(t, short.Leaf.NotAfter, expired.NotAfter)
			assert.ErrorContains(t, err, "the client certificate expired at "+short.Leaf.NotAfter.Format(time.RFC3339)+" and has not been renewed: ")
			credentials.current.Store(authority.Issue(t, restclienttest.Leaf{Name: "jane", Valid: 24 * time.Hour}))
			assert.Equal(t, "HTTP/2.0 jane", ask(t, client))
		})
	}
}

// A 401 to a valid certificate has another reason and is returned unchanged.
func TestAnotherReasonForA401IsNotGuessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := restclienttest.NewAuthority(t)
		server := restclienttest.NewTLSServer(t, code(401), authority, nil)
		client := server.Client(func(cfg *restclient.Config) {
			cfg.Credentials = certificateOf(authority.Issue(t, restclienttest.Leaf{Name: "joe"}))
		})
		err := client.Do(t.Context(), get("/"), nil)
		assert.True(t, api.IsUnauthorized(err))
		assert.NotErrorAs(t, err, new(*restclient.CertificateExpiredError))
	})
}

// The server's certificate expires while the client is connected: that connection stays open, and
// new ones fail with a message that says why. Once the server has a new certificate, requests
// succeed.
func TestTheServersCertificateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := restclienttest.NewAuthority(t)
		host := restclienttest.Leaf{Name: "apiserver.test", Hosts: []string{"apiserver.test"}, Valid: time.Hour}
		var present atomic.Pointer[tls.Certificate]
		present.Store(authority.Issue(t, host))
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(serveIdentity), authority, func(cfg *tls.Config) {
			cfg.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return present.Load(), nil }
		})
		client := server.Client()
		for range 61 {
			assert.Equal(t, "HTTP/2.0 anonymous", ask(t, client))
			time.Sleep(time.Minute)
		}
		server.CloseConnections()
		err := client.Do(t.Context(), get("/"), nil)
		var broken *restclient.TransportError
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, restclient.CertificateInvalid, broken.Kind)
		assert.ErrorContains(t, err, "the certificate of https://apiserver.test is not valid: ")
		assert.ErrorContains(t, err, "has expired or is not yet valid: current time ")
		assert.ErrorAs(t, err, new(x509.CertificateInvalidError))
		present.Store(authority.Issue(t, host))
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, client))
	})
}

// Our clock is ten years ahead, so every certificate has expired. The error says so, with both
// times.
func TestOurClockIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := restclienttest.NewAuthority(t)
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(serveIdentity), authority, nil)
		client := server.Client()
		time.Sleep(10 * 365 * 24 * time.Hour)
		err := client.Do(t.Context(), get("/"), nil)
		var broken *restclient.TransportError
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, restclient.CertificateInvalid, broken.Kind)
		assert.False(t, broken.Unreachable(), "the certificate must be replaced")
		assert.ErrorContains(t, err, "current time "+time.Now().UTC().Format(time.RFC3339)[:10])
	})
}
