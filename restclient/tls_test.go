package restclient_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
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

// serveIdentity answers with the protocol and the common name of the client's certificate; watches
// get one event with the same.
func serveIdentity(w http.ResponseWriter, r *http.Request) {
	name := "anonymous"
	if len(r.TLS.PeerCertificates) > 0 {
		name = r.TLS.PeerCertificates[0].Subject.CommonName
	}
	if r.URL.Query().Get("watch") != "" {
		restclienttest.ServeWatch(w, r, restclienttest.TextFrames, func(s *restclienttest.Stream) {
			s.Send(api.WatchAdded, namespace(name, "1"))
		})
		return
	}
	io.WriteString(w, r.Proto+" "+name)
}

// certificate is a client certificate that can be replaced.
type certificate struct {
	current atomic.Pointer[tls.Certificate]
	err     error
}

func certificateOf(c *tls.Certificate) *certificate {
	credentials := &certificate{}
	credentials.current.Store(c)
	return credentials
}

func (c *certificate) Apply(*http.Request) error                    { return nil }
func (c *certificate) Unauthorized(*http.Request)                   {}
func (c *certificate) ClientCertificate() (*tls.Certificate, error) { return c.current.Load(), c.err }

func ask(t *testing.T, client *restclient.Client) string {
	t.Helper()
	var body []byte
	require.NoError(t, client.Do(t.Context(), get("/"), &body))
	return string(body)
}

func TestTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := restclienttest.NewAuthority(t)
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(serveIdentity), authority, nil)
		with := func(credentials restclient.Credentials) func(*restclient.Config) {
			return func(cfg *restclient.Config) { cfg.Credentials = credentials }
		}
		joe := authority.Issue(t, restclienttest.Leaf{Name: "joe"})
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, server.Client()))
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, server.Client(with(certificateOf(nil)))))
		assert.Equal(t, "HTTP/2.0 joe", ask(t, server.Client(with(certificateOf(joe)))))
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, server.Client(func(cfg *restclient.Config) {
			cfg.TLS = restclient.TLS{Insecure: true}
		})))
		for _, transport := range transports {
			client := server.Client(with(certificateOf(joe)), func(cfg *restclient.Config) { cfg.WatchTransport = transport })
			w, err := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "").Watch(t.Context(), api.ListOptions{})
			require.NoError(t, err)
			event, err := w.Next()
			require.NoError(t, err)
			assert.Equal(t, "joe", event.Object.Name)
			_, err = w.Next()
			assert.Equal(t, io.EOF, err)
		}
	})
}

func TestWrongCertificates(t *testing.T) {
	type setup struct {
		name     string
		server   func(t *testing.T, authority *restclienttest.Authority) func(*tls.Config)
		client   func(t *testing.T, authority *restclienttest.Authority) func(*restclient.Config)
		kind     restclient.TransportErrorKind
		sentence string
	}
	plain := func(*testing.T, *restclienttest.Authority) func(*tls.Config) { return nil }
	same := func(*testing.T, *restclienttest.Authority) func(*restclient.Config) {
		return func(*restclient.Config) {}
	}
	serverWith := func(leaf restclienttest.Leaf) func(*testing.T, *restclienttest.Authority) func(*tls.Config) {
		return func(t *testing.T, authority *restclienttest.Authority) func(*tls.Config) {
			return func(cfg *tls.Config) { cfg.Certificates = []tls.Certificate{*authority.Issue(t, leaf)} }
		}
	}
	required := func(*testing.T, *restclienttest.Authority) func(*tls.Config) {
		return func(cfg *tls.Config) { cfg.ClientAuth = tls.RequireAndVerifyClientCert }
	}
	for _, c := range []setup{
		{"unknown authority", plain, func(t *testing.T, _ *restclienttest.Authority) func(*restclient.Config) {
			other := restclienttest.NewAuthority(t)
			return func(cfg *restclient.Config) { cfg.TLS.CAData = other.PEM() }
		}, restclient.CertificateUnknown, "the certificate of https://apiserver.test is signed by an authority that is not trusted"},
		{"expired", serverWith(restclienttest.Leaf{Hosts: []string{"apiserver.test"}, Valid: -time.Minute}), same,
			restclient.CertificateInvalid, "the certificate of https://apiserver.test is not valid"},
		{"other name", serverWith(restclienttest.Leaf{Hosts: []string{"other.test"}}), same,
			restclient.CertificateInvalid, "the certificate of https://apiserver.test is not valid"},
		{"client certificate missing", required, same,
			restclient.CertificateRejected, "the server https://apiserver.test rejected our client certificate"},
		{"client certificate of another authority", required, func(t *testing.T, _ *restclienttest.Authority) func(*restclient.Config) {
			joe := restclienttest.NewAuthority(t).Issue(t, restclienttest.Leaf{Name: "joe"})
			return func(cfg *restclient.Config) { cfg.Credentials = certificateOf(joe) }
		}, restclient.CertificateRejected, "the server https://apiserver.test rejected our client certificate"},
		{"client certificate cannot be had", required, func(*testing.T, *restclienttest.Authority) func(*restclient.Config) {
			return func(cfg *restclient.Config) { cfg.Credentials = &certificate{err: errors.New("no plugin")} }
		}, restclient.CredentialsFailed, "the credentials for https://apiserver.test cannot be obtained"},
		{"the server speaks plain HTTP", plain, same, restclient.NotTLS, "the server https://apiserver.test does not speak TLS"},
	} {
		for _, transport := range transports {
			t.Run(c.name+" "+string(transport), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					authority := restclienttest.NewAuthority(t)
					server := restclienttest.NewTLSServer(t, http.HandlerFunc(serveIdentity), authority, c.server(t, authority))
					if c.kind == restclient.NotTLS {
						plain := restclienttest.NewServer(t, http.HandlerFunc(ok))
						cfg := plain.Config()
						cfg.Host = "https://apiserver.test"
						expectKind(t, mustClient(t, cfg), transport, c.kind, c.sentence)
						return
					}
					cfg := server.Config()
					c.client(t, authority)(&cfg)
					cfg.WatchTransport = transport
					expectKind(t, mustClient(t, cfg), transport, c.kind, c.sentence)
				})
			})
		}
	}
}

func mustClient(t *testing.T, cfg restclient.Config) *restclient.Client {
	t.Helper()
	client, err := restclient.New(cfg)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// expectKind sends a request (for websocket a watch) and expects it to fail with that kind and a
// message with this prefix.
func expectKind(t *testing.T, client *restclient.Client, transport restclient.WatchTransport, kind restclient.TransportErrorKind, sentence string) {
	t.Helper()
	err := client.Do(t.Context(), get("/"), nil)
	if transport == restclient.WatchWebSocket {
		_, err = restclient.Metadata(client, api.NamespacesResource, "").Watch(t.Context(), api.ListOptions{})
	}
	var broken *restclient.TransportError
	require.ErrorAs(t, err, &broken)
	if kind == restclient.CertificateRejected && broken.Kind != kind {
		// The server's verdict comes after the client's half of the handshake; a request that is
		// written first breaks off.
		kind, sentence = restclient.ConnectionLost, "the connection to https://apiserver.test broke off"
	}
	assert.Equal(t, kind, broken.Kind, "%v", err)
	assert.Contains(t, broken.Sentence(), sentence)
}

func TestServerName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(serveIdentity), restclienttest.NewAuthority(t), nil)
		client := server.Client(func(cfg *restclient.Config) {
			cfg.Host, cfg.TLS.ServerName = "https://10.1.2.3", "apiserver.test"
		})
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, client))
	})
}

// New requests use a new client certificate, although the old connection is still usable.
func TestClientCertificateRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := restclienttest.NewAuthority(t)
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(serveIdentity), authority, nil)
		credentials := certificateOf(authority.Issue(t, restclienttest.Leaf{Name: "joe"}))
		client := server.Client(func(cfg *restclient.Config) { cfg.Credentials = credentials })
		assert.Equal(t, "HTTP/2.0 joe", ask(t, client))
		credentials.current.Store(authority.Issue(t, restclienttest.Leaf{Name: "jane"}))
		assert.Equal(t, "HTTP/2.0 joe", ask(t, client), "looked at once a minute")
		time.Sleep(time.Minute)
		assert.Equal(t, "HTTP/2.0 jane", ask(t, client))
		time.Sleep(time.Minute)
		assert.Equal(t, "HTTP/2.0 jane", ask(t, client))
		assert.Equal(t, 2, server.Dialled())
		synctest.Wait()
		assert.Equal(t, 1, server.Connections(), "the old connection is closed")
	})
}

// After a rotation only a handshake that asked for a certificate can make it outdated again: a
// server that has ceased to ask gets one new connection, not one a minute.
func TestClientCertificateRotationAtAServerThatAsksNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := restclienttest.NewAuthority(t)
		var asks atomic.Bool
		asks.Store(true)
		hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
		server := restclienttest.NewTLSServer(t, hello, authority, func(cfg *tls.Config) {
			cfg.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
				each := cfg.Clone()
				each.NextProtos = []string{"h2", "http/1.1"}
				if !asks.Load() {
					each.ClientAuth = tls.NoClientCert
				}
				return each, nil
			}
		})
		credentials := certificateOf(authority.Issue(t, restclienttest.Leaf{Name: "joe"}))
		client := server.Client(func(cfg *restclient.Config) { cfg.Credentials = credentials })
		assert.Equal(t, "hello", ask(t, client))
		credentials.current.Store(authority.Issue(t, restclienttest.Leaf{Name: "jane"}))
		asks.Store(false)
		for range 3 {
			time.Sleep(time.Minute)
			assert.Equal(t, "hello", ask(t, client))
		}
		assert.Equal(t, 2, server.Dialled(), "one connection before the rotation, one after it")
	})
}

// A server answers 401 on a connection whose certificate has expired meanwhile. The retry uses a
// new one.
func TestExpiredClientCertificate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := restclienttest.NewAuthority(t)
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if time.Now().After(r.TLS.PeerCertificates[0].NotAfter) {
				answer(w, 401, refusal(401, api.ReasonUnauthorized, "Unauthorized"))
				return
			}
			serveIdentity(w, r)
		}), authority, nil)
		credentials := certificateOf(authority.Issue(t, restclienttest.Leaf{Name: "joe", Valid: 30 * time.Second}))
		client := server.Client(func(cfg *restclient.Config) { cfg.Credentials = credentials })
		assert.Equal(t, "HTTP/2.0 joe", ask(t, client))
		time.Sleep(40 * time.Second)
		credentials.current.Store(authority.Issue(t, restclienttest.Leaf{Name: "jane"}))
		assert.Equal(t, "HTTP/2.0 jane", ask(t, client))
	})
}

func TestCAFileRotation(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		oldCA, newCA := restclienttest.NewAuthority(t), restclienttest.NewAuthority(t)
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(serveIdentity), newCA, nil)
		file := filepath.Join(dir, "ca.crt")
		require.NoError(t, os.WriteFile(file, oldCA.PEM(), 0o600))
		client := server.Client(func(cfg *restclient.Config) { cfg.TLS = restclient.TLS{CAFile: file} })
		fails := func(why string) {
			t.Helper()
			err := client.Do(t.Context(), get("/"), nil)
			assertKind(t, restclient.CertificateUnknown, err, why)
		}
		fails("signed by another authority")

		// A half-written file must neither add trust nor fail in another way.
		for _, content := range [][]byte{nil, []byte("-----BEGIN"), newCA.PEM()[:40]} {
			require.NoError(t, os.WriteFile(file, content, 0o600))
			time.Sleep(2 * time.Minute)
			fails("half a file")
		}
		require.NoError(t, os.Remove(file))
		time.Sleep(2 * time.Minute)
		fails("no file")

		require.NoError(t, os.WriteFile(file, newCA.PEM(), 0o600))
		time.Sleep(2 * time.Minute)
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, client))
	})
}

func TestCompressionAndItsAbsence(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Accept-Encoding")) }
	bubble(t, echo, func(t *testing.T, server *restclienttest.Server) {
		assert.Equal(t, "gzip", ask(t, server.Client()))
		assert.Equal(t, "", ask(t, server.Client(func(cfg *restclient.Config) { cfg.DisableCompression = true })))
	})
}

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
		assertKind(t, restclient.CertificateInvalid, err)
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
