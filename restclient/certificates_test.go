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

// kubeLike answers as kube-apiserver does: it takes any client certificate in the handshake, and then answers 401 to one that
// has expired by its own clock, which may be ahead of ours.
func kubeLike(ahead time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().Add(ahead)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		if now.After(r.TLS.PeerCertificates[0].NotAfter) {
			answer(w, 401, refusal(401, api.ReasonUnauthorized, "Unauthorized"))
			return
		}
		who(w, r)
	}
}

// A client certificate that expires and is not renewed is named as the reason, also over a connection that was opened in
// time, and by the server's clock. When it is renewed the next request is in order.
func TestAnExpiredClientCertificateIsNamed(t *testing.T) {
	for _, ahead := range []time.Duration{0, 5 * time.Hour, -5 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			authority := restclienttest.NewAuthority(t)
			server := restclienttest.NewTLSServer(t, kubeLike(ahead), authority, func(cfg *tls.Config) { cfg.ClientAuth = tls.RequestClientCert })
			short := authority.Issue(t, restclienttest.Leaf{Name: "joe", Valid: 6 * time.Hour})
			credentials := certificateOf(short)
			client := server.Client(func(cfg *restclient.Config) { cfg.Credentials = credentials })
			assert.Equal(t, "HTTP/2.0 joe", ask(t, client))
			time.Sleep(6*time.Hour - ahead - time.Minute)
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

// A 401 to a certificate that is valid has another reason, and is left as it is.
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

// The server's certificate expires while we are connected: that connection goes on, new ones are refused with a sentence that
// says why, and as soon as the server has a new certificate all is well.
func TestTheServersCertificateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := restclienttest.NewAuthority(t)
		host := restclienttest.Leaf{Name: "apiserver.test", Hosts: []string{"apiserver.test"}, Valid: time.Hour}
		var present atomic.Pointer[tls.Certificate]
		present.Store(authority.Issue(t, host))
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(who), authority, func(cfg *tls.Config) {
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

// Our clock is ten years ahead: every certificate has expired. The error says so, with both times.
func TestOurClockIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := restclienttest.NewAuthority(t)
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(who), authority, nil)
		client := server.Client()
		time.Sleep(10 * 365 * 24 * time.Hour)
		err := client.Do(t.Context(), get("/"), nil)
		var broken *restclient.TransportError
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, restclient.CertificateInvalid, broken.Kind)
		assert.False(t, broken.Unreachable(), "somebody has to put something right")
		assert.ErrorContains(t, err, "current time "+time.Now().UTC().Format(time.RFC3339)[:10])
	})
}
