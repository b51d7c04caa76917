package restclient_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/chaos"
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
		restclienttest.ServeWatch(w, r, func(s *restclienttest.Stream) {
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

// identity is a TLS server in a bubble, with a client whose certificate can be renewed.
type identity struct {
	*certificate
	t         *testing.T
	authority *restclienttest.Authority
	server    *restclienttest.Server
	client    *restclient.Client
}

// renew gives the client another certificate.
func (i *identity) renew(leaf restclienttest.Leaf) { i.current.Store(i.authority.Issue(i.t, leaf)) }

// asJoe runs a test with a client that has a certificate of "joe", which is valid for six hours.
func asJoe(t *testing.T, handler http.HandlerFunc, adjust func(*tls.Config), test func(*testing.T, *identity)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		i := &identity{certificate: &certificate{}, t: t, authority: restclienttest.NewAuthority(t)}
		i.server = restclienttest.NewTLSServer(t, handler, i.authority, adjust)
		i.renew(restclienttest.Leaf{Name: "joe", Valid: 6 * time.Hour})
		i.client = i.server.Client(as(i))
		test(t, i)
	})
}

func TestTLS(t *testing.T) {
	asJoe(t, serveIdentity, nil, func(t *testing.T, joe *identity) {
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, joe.server.Client()))
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, joe.server.Client(as(certificateOf(nil)))))
		assert.Equal(t, "HTTP/2.0 joe", ask(t, joe.client))
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, joe.server.Client(func(cfg *restclient.Config) {
			cfg.TLS = restclient.TLS{Insecure: true}
		})))
		assert.Equal(t, "HTTP/2.0 anonymous", ask(t, joe.server.Client(func(cfg *restclient.Config) {
			cfg.Host, cfg.TLS.ServerName = "https://10.1.2.3", "apiserver.test"
		})))
		for _, transport := range transports {
			w := watchOf(t, joe.server.Client(as(joe), over(transport)))
			event, err := w.Next()
			require.NoError(t, err)
			assert.Equal(t, "joe", event.Object.Name)
			_, err = w.Next()
			assert.Equal(t, io.EOF, err)
		}
	})
}

func TestWrongCertificates(t *testing.T) {
	const invalid = "the certificate of https://apiserver.test is not valid"
	const rejected = "the server https://apiserver.test rejected our client certificate"
	good := restclienttest.Leaf{Hosts: []string{"apiserver.test"}}
	expired, other := good, restclienttest.Leaf{Hosts: []string{"other.test"}}
	expired.Valid = -time.Minute
	anonymous := func(*testing.T, *restclient.Config) {}
	for _, c := range []struct {
		name     string
		leaf     restclienttest.Leaf // of the server
		required bool                // a client certificate
		client   func(*testing.T, *restclient.Config)
		kind     restclient.TransportErrorKind
		sentence string
	}{
		{"unknown authority", good, false, func(t *testing.T, cfg *restclient.Config) {
			cfg.TLS.CAData = restclienttest.NewAuthority(t).PEM()
		}, restclient.CertificateUnknown,
			"the certificate of https://apiserver.test is signed by an authority that is not trusted"},
		{"expired", expired, false, anonymous, restclient.CertificateInvalid, invalid},
		{"other name", other, false, anonymous, restclient.CertificateInvalid, invalid},
		{"client certificate missing", good, true, anonymous, restclient.CertificateRejected, rejected},
		{"client certificate of another authority", good, true, func(t *testing.T, cfg *restclient.Config) {
			joe := restclienttest.NewAuthority(t).Issue(t, restclienttest.Leaf{Name: "joe"})
			cfg.Credentials = certificateOf(joe)
		}, restclient.CertificateRejected, rejected},
		{"client certificate cannot be had", good, true, func(_ *testing.T, cfg *restclient.Config) {
			cfg.Credentials = &certificate{err: errors.New("no plugin")}
		}, restclient.CredentialsFailed, "the credentials for https://apiserver.test cannot be obtained"},
		{"the server speaks plain HTTP", good, false, func(t *testing.T, cfg *restclient.Config) {
			cfg.Dial = restclienttest.NewServer(t, http.HandlerFunc(ok)).Dial
		}, restclient.NotTLS, "the server https://apiserver.test does not speak TLS"},
	} {
		for _, transport := range transports {
			t.Run(c.name+" "+string(transport), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					authority := restclienttest.NewAuthority(t)
					adjust := func(cfg *tls.Config) {
						cfg.Certificates = []tls.Certificate{*authority.Issue(t, c.leaf)}
						if c.required {
							cfg.ClientAuth = tls.RequireAndVerifyClientCert
						}
					}
					server := restclienttest.NewTLSServer(t, http.HandlerFunc(serveIdentity), authority, adjust)
					client := server.Client(over(transport), func(cfg *restclient.Config) { c.client(t, cfg) })
					expectKind(t, client, transport, c.kind, c.sentence)
				})
			})
		}
	}
}

// expectKind sends a request (for websocket a watch) and expects it to fail with that kind and a
// message with this prefix.
func expectKind(t *testing.T, client *restclient.Client, transport restclient.WatchTransport,
	kind restclient.TransportErrorKind, sentence string) {
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

// A connection with a new certificate is still being opened when a caller gives up: it is kept, and
// the answers that came over the old one do not count.
func TestAConnectionWithANewCertificateMayBeOpenedSlowly(t *testing.T) {
	asJoe(t, serveIdentity, nil, func(t *testing.T, joe *identity) {
		var link chaos.Link
		client := joe.server.Client(as(joe), func(cfg *restclient.Config) { cfg.Dial = link.Dial(joe.server.Dial) })
		assert.Equal(t, "HTTP/2.0 joe", ask(t, client))
		joe.renew(restclienttest.Leaf{Name: "jane"})
		time.Sleep(time.Minute)
		link.Delay(3 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, client.Do(ctx, get("/"), nil), context.DeadlineExceeded)
		time.Sleep(10 * time.Second) // the handshake ends
		link.Heal()
		assert.Equal(t, "HTTP/2.0 jane", ask(t, client))
		assert.Equal(t, 2, joe.server.Dialled(), "the connection that was being opened is used")
	})
}

// New requests use a new client certificate, although the old connection is still usable, and the
// file of the authority cannot be read at that moment.
func TestClientCertificateRotation(t *testing.T) {
	asJoe(t, serveIdentity, nil, func(t *testing.T, joe *identity) {
		former, file := "joe", filepath.Join(t.TempDir(), "ca.crt")
		require.NoError(t, os.WriteFile(file, joe.authority.PEM(), 0o600))
		client := joe.server.Client(as(joe), func(cfg *restclient.Config) { cfg.TLS = restclient.TLS{CAFile: file} })
		require.NoError(t, os.Remove(file))
		for _, name := range []string{"jane", "jim"} {
			assert.Equal(t, "HTTP/2.0 "+former, ask(t, client))
			joe.renew(restclienttest.Leaf{Name: name})
			assert.Equal(t, "HTTP/2.0 "+former, ask(t, client), "looked at once a minute")
			time.Sleep(time.Minute)
			assert.Equal(t, "HTTP/2.0 "+name, ask(t, client))
			synctest.Wait()
			assert.Equal(t, 1, joe.server.Connections(), "the old connection is closed at once")
			former = name
		}
		time.Sleep(time.Minute)
		assert.Equal(t, "HTTP/2.0 jim", ask(t, client))
		assert.Equal(t, 3, joe.server.Dialled())
	})
}

func TestCAFileRotation(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		oldCA, newCA := restclienttest.NewAuthority(t), restclienttest.NewAuthority(t)
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(serveIdentity), newCA, nil)
		file := filepath.Join(dir, "ca.crt")
		require.NoError(t, os.WriteFile(file, oldCA.PEM(), 0o600))
		client := server.Client(over(restclient.WatchWebSocket),
			func(cfg *restclient.Config) { cfg.TLS = restclient.TLS{CAFile: file} })
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
		w, err := podsOf(client).Watch(t.Context(), api.ListOptions{})
		require.NoError(t, err, "a watch over a websocket trusts the new authority, too")
		w.Stop()
		dialled := server.Dialled()
		time.Sleep(time.Minute)
		ask(t, client)
		assert.Equal(t, dialled, server.Dialled(), "a file that stays as it is needs no new connection")
	})
}

// kubeLike answers as kube-apiserver does: it accepts any client certificate in the handshake. It
// then answers 401 to one that has expired.
func kubeLike(w http.ResponseWriter, r *http.Request) {
	if time.Now().After(r.TLS.PeerCertificates[0].NotAfter) {
		code(401)(w, r)
		return
	}
	serveIdentity(w, r)
}

// A server answers 401 on a connection whose certificate has expired meanwhile. The retry uses a
// new one.
func TestExpiredClientCertificate(t *testing.T) {
	asJoe(t, kubeLike, nil, func(t *testing.T, joe *identity) {
		joe.renew(restclienttest.Leaf{Name: "joe", Valid: 30 * time.Second})
		assert.Equal(t, "HTTP/2.0 joe", ask(t, joe.client))
		time.Sleep(40 * time.Second) // the certificate is looked at once a minute
		joe.renew(restclienttest.Leaf{Name: "jane"})
		assert.Equal(t, "HTTP/2.0 jane", ask(t, joe.client))
	})
}

// The server's certificate expires while the client is connected: that connection stays open, and
// new ones fail with a message that says why. Once the server has a new certificate, requests
// succeed.
func TestTheServersCertificateExpires(t *testing.T) {
	host := restclienttest.Leaf{Name: "apiserver.test", Hosts: []string{"apiserver.test"}, Valid: time.Hour}
	var present atomic.Pointer[tls.Certificate]
	adjust := func(cfg *tls.Config) {
		cfg.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return present.Load(), nil }
	}
	asJoe(t, serveIdentity, adjust, func(t *testing.T, joe *identity) {
		present.Store(joe.authority.Issue(t, host))
		for range 61 {
			assert.Equal(t, "HTTP/2.0 joe", ask(t, joe.client))
			time.Sleep(time.Minute)
		}
		joe.server.CloseConnections()
		err := joe.client.Do(t.Context(), get("/"), nil)
		assertKind(t, restclient.CertificateInvalid, err)
		assert.ErrorContains(t, err, "the certificate of https://apiserver.test is not valid: ")
		assert.ErrorContains(t, err, "has expired or is not yet valid: current time ")
		assert.ErrorAs(t, err, new(x509.CertificateInvalidError))
		present.Store(joe.authority.Issue(t, host))
		assert.Equal(t, "HTTP/2.0 joe", ask(t, joe.client))
	})
}

// Our clock is ten years ahead, so every certificate has expired. The error says so, with both
// times.
func TestOurClockIsWrong(t *testing.T) {
	asJoe(t, serveIdentity, nil, func(t *testing.T, joe *identity) {
		time.Sleep(10 * 365 * 24 * time.Hour)
		err := joe.client.Do(t.Context(), get("/"), nil)
		var broken *restclient.TransportError
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, restclient.CertificateInvalid, broken.Kind)
		assert.False(t, broken.Unreachable(), "the certificate must be replaced")
		assert.ErrorContains(t, err, "current time "+time.Now().UTC().Format(time.RFC3339)[:10])
	})
}

func TestProxies(t *testing.T) {
	const target = "https://behind.test"
	through := func(address string) func(*http.Request) (*url.URL, error) {
		u, err := url.Parse(address)
		require.NoError(t, err)
		return http.ProxyURL(u)
	}
	wrong := func(*http.Request) (*url.URL, error) {
		return nil, errors.New(`invalid proxy address "http://jane:s3cret@:x"`)
	}
	for name, c := range map[string]struct {
		proxy      func(*http.Request) (*url.URL, error)
		gone       bool // no process listens
		transports []restclient.WatchTransport
		sentence   string
	}{
		"the proxy refuses": {through("http://jane:s3cret@proxy.test"), false, transports[:1],
			"it answered 407 Proxy Authentication Required"},
		"no proxy": {through("http://jane:s3cret@proxy.test:3128"), true, transports[:1],
			"the proxy for " + target + " cannot be used: "},
		"the setting is wrong and holds a password": {wrong, false, transports, "cannot be used: "},
		"websockets cannot use an https proxy": {through("https://proxy.test"), false, transports[1:],
			"use the http watch transport"},
	} {
		bubble(t, code(http.StatusProxyAuthRequired), func(t *testing.T, server *restclienttest.Server) {
			server.Refuse(c.gone)
			for _, transport := range c.transports {
				client := server.Client(over(transport),
					func(cfg *restclient.Config) { cfg.Host, cfg.Proxy = target, c.proxy })
				expectKind(t, client, transport, restclient.ProxyFailed, c.sentence)
				assert.NotContains(t, client.Do(t.Context(), get("/"), nil).Error(), "s3cret", name)
			}
		})
	}
	passes := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "to "+r.URL.String()) }
	bubble(t, passes, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) {
			cfg.Host, cfg.Proxy = "http://behind.test", through("http://proxy.test")
		})
		assert.Equal(t, "to http://behind.test/", ask(t, client))
	})
}
