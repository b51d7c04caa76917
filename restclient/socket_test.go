package restclient_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// The tests of this file use real sockets on the loopback interface, which do not work in a
// synctest bubble.

func noProxy(*http.Request) (*url.URL, error) { return nil, nil }

func TestNameThatDoesNotResolve(t *testing.T) {
	noServers := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name servers here")
	}}
	for _, transport := range transports {
		client := mustClient(t, restclient.Config{
			Host: "http://no-such-host.invalid", Proxy: noProxy, WatchTransport: transport,
			Dial: (&net.Dialer{Resolver: noServers}).DialContext,
		})
		expectKind(t, client, transport, restclient.HostNotFound, "the host name of http://no-such-host.invalid cannot be resolved: ")
	}
}

// proxyServer is an HTTP proxy that supports CONNECT, with one user.
func proxyServer(t *testing.T) (address *url.URL, connects *atomic.Int64) {
	connects = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connects.Add(1)
		if r.Header.Get("Proxy-Authorization") != "Basic am9lOnBhNTU=" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			io.WriteString(w, "through the proxy to "+r.URL.String())
			return
		}
		there, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		fmt.Fprint(here, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() { defer there.Close(); io.Copy(there, buffered) }()
		go func() { defer here.Close(); io.Copy(here, bufio.NewReader(there)) }()
	}))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	require.NoError(t, err)
	address.User = url.UserPassword("joe", "pa55")
	return address, connects
}

func TestProxies(t *testing.T) {
	authority := restclienttest.NewAuthority(t)
	target := httptest.NewUnstartedServer(http.HandlerFunc(serveIdentity))
	target.TLS = &tls.Config{Certificates: []tls.Certificate{*authority.Issue(t, restclienttest.Leaf{Hosts: []string{"127.0.0.1"}})}}
	target.StartTLS()
	defer target.Close()
	proxy, connects := proxyServer(t)
	cfg := restclient.Config{Host: target.URL, TLS: restclient.TLS{CAData: authority.PEM()}, Proxy: http.ProxyURL(proxy)}

	t.Run("https through CONNECT", func(t *testing.T) {
		assert.Contains(t, ask(t, mustClient(t, cfg)), "anonymous")
		assert.EqualValues(t, 1, connects.Load())
	})
	t.Run("websocket through CONNECT", func(t *testing.T) {
		cfg := cfg
		cfg.WatchTransport = restclient.WatchWebSocket
		w, err := restclient.Typed[*api.Namespace](mustClient(t, cfg), api.NamespacesResource, "").Watch(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		event, err := w.Next()
		require.NoError(t, err)
		assert.Equal(t, "anonymous", event.Object.Name)
		w.Stop()
		assert.EqualValues(t, 2, connects.Load())
	})
	t.Run("http", func(t *testing.T) {
		cfg := restclient.Config{Host: "http://behind.test", Proxy: http.ProxyURL(proxy)}
		assert.Equal(t, "through the proxy to http://behind.test/", ask(t, mustClient(t, cfg)))
	})
	t.Run("the proxy refuses", func(t *testing.T) {
		cfg, other := cfg, *proxy
		other.User = url.UserPassword("jane", "s3cret")
		cfg.Proxy = http.ProxyURL(&other)
		expectKind(t, mustClient(t, cfg), restclient.WatchHTTP, restclient.ProxyFailed, "it answered 407 Proxy Authentication Required")
	})
	t.Run("no server", func(t *testing.T) {
		cfg := cfg
		cfg.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.test:3128", User: url.UserPassword("jane", "s3cret")})
		cfg.Dial = func(_ context.Context, network, _ string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		}
		expectKind(t, mustClient(t, cfg), restclient.WatchHTTP, restclient.ProxyFailed, "the proxy for "+target.URL+" cannot be used: ")
	})
	t.Run("the setting is wrong and holds a password", func(t *testing.T) {
		for _, transport := range transports {
			cfg := cfg
			cfg.WatchTransport = transport
			cfg.Proxy = func(*http.Request) (*url.URL, error) {
				return nil, errors.New(`invalid proxy address "http://jane:s3cret@:x"`)
			}
			client := mustClient(t, cfg)
			expectKind(t, client, transport, restclient.ProxyFailed, "cannot be used: ")
			assert.NotContains(t, client.Do(t.Context(), get("/"), nil).Error(), "s3cret")
		}
	})
	t.Run("websocket cannot use an https proxy", func(t *testing.T) {
		cfg := cfg
		cfg.WatchTransport = restclient.WatchWebSocket
		cfg.Proxy = http.ProxyURL(&url.URL{Scheme: "https", Host: "127.0.0.1:1"})
		expectKind(t, mustClient(t, cfg), restclient.WatchWebSocket, restclient.ProxyFailed, "use the http watch transport")
	})
}
