package restclient_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/restclienttest"
)

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
