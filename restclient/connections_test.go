package restclient_test

import (
	"context"
	"net"
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

// closing runs a test over HTTP/1.1, HTTP/2 and websockets, against a server that answers requests
// and leaves watches open.
func closing(t *testing.T, test func(t *testing.T, server *restclienttest.Server, client *restclient.Client)) {
	t.Helper()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			restclienttest.ServeWatch(w, r, restclienttest.TextFrames, (*restclienttest.Stream).Wait)
			return
		}
		ok(w, r)
	})
	for _, transport := range transports {
		for _, secure := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				server := restclienttest.NewServer(t, handler)
				if secure {
					server = restclienttest.NewTLSServer(t, handler, restclienttest.NewAuthority(t), nil)
				}
				test(t, server, server.Client(func(cfg *restclient.Config) { cfg.WatchTransport = transport }))
			})
		}
	}
}

// net/http does not count an HTTP/2 connection as idle just after its last stream was cancelled,
// and would keep it for another 90 seconds.
func TestCloseLeavesNoConnection(t *testing.T) {
	closing(t, func(t *testing.T, server *restclienttest.Server, client *restclient.Client) {
		for range 20 {
			w, err := restclient.Metadata(client, api.PodsResource, "").Watch(t.Context(), api.ListOptions{})
			require.NoError(t, err)
			require.NoError(t, client.Do(t.Context(), get("/"), nil), "a closed client still works")
			w.Stop()
			client.Close()
			synctest.Wait()
			require.Zero(t, server.Connections())
		}
	})
}

// A watch that the server refuses has no user left that would keep the connections of a closed
// client open.
func TestARefusedWatchHoldsNoConnection(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			code(410)(w, r)
			return
		}
		ok(w, r)
	}
	for _, transport := range transports {
		bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
			client := server.Client(func(cfg *restclient.Config) { cfg.WatchTransport = transport })
			_, err := restclient.Metadata(client, api.PodsResource, "").Watch(t.Context(), api.ListOptions{})
			require.True(t, api.IsExpired(err), "want the server's refusal, got %v", err)
			client.Close()
			require.NoError(t, client.Do(t.Context(), get("/"), nil), "a closed client still works")
			synctest.Wait()
			assert.Zero(t, server.Connections(), "the connection goes with the last request")
		})
	}
}

func TestCloseLeavesWatchesAlone(t *testing.T) {
	closing(t, func(t *testing.T, server *restclienttest.Server, client *restclient.Client) {
		w, err := restclient.Metadata(client, api.PodsResource, "").Watch(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		client.Close()
		time.AfterFunc(time.Minute, w.Stop)
		start := time.Now()
		_, err = w.Next()
		assert.ErrorIs(t, err, restclient.ErrWatchStopped)
		assert.Equal(t, time.Minute, time.Since(start))
		synctest.Wait()
		assert.Zero(t, server.Connections(), "the connection goes with its last watch")
	})
}

// net/http itself drops a connection that is still being opened when its request is cancelled.
func TestCloseWhileDialling(t *testing.T) {
	closing(t, func(t *testing.T, server *restclienttest.Server, client *restclient.Client) {
		dial := server.Config().Dial
		slow := server.Client(func(cfg *restclient.Config) {
			cfg.Dial = func(_ context.Context, network, addr string) (net.Conn, error) {
				time.Sleep(time.Minute)
				return dial(t.Context(), network, addr)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, slow.Do(ctx, get("/"), nil), context.DeadlineExceeded)
		slow.Close()
		time.Sleep(time.Minute) // long enough to open it, too short for net/http to find it idle for too long
		synctest.Wait()
		assert.Equal(t, 1, server.Dialled())
		assert.Zero(t, server.Connections())
	})
}

// The second request makes net/http keep idle connections again, and so the one that the first
// request began to open.
func TestAConnectionThatIsOpenedTooLateIsClosed(t *testing.T) {
	closing(t, func(t *testing.T, server *restclienttest.Server, _ *restclient.Client) {
		dial := server.Config().Dial
		var dials atomic.Int32
		client := server.Client(func(cfg *restclient.Config) {
			cfg.Dial = func(_ context.Context, network, addr string) (net.Conn, error) {
				if dials.Add(1) == 1 {
					time.Sleep(time.Minute)
				}
				return dial(t.Context(), network, addr)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, client.Do(ctx, get("/"), nil), context.DeadlineExceeded)
		client.Close()
		require.NoError(t, client.Do(t.Context(), get("/"), nil), "a closed client still works")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Zero(t, server.Connections())
	})
}

// calls are the requests of a Resource, by verb.
func calls(t *testing.T, client *restclient.Client) map[string]error {
	r := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	object := namespace("a", "1")
	errs := map[string]error{}
	_, errs["get"] = r.Get(t.Context(), "a", api.GetOptions{})
	_, errs["list"] = r.List(t.Context(), api.ListOptions{})
	_, errs["watch"] = r.Watch(t.Context(), api.ListOptions{})
	_, errs["create"] = r.Create(t.Context(), object, api.UpdateOptions{})
	_, errs["update"] = r.Update(t.Context(), object, api.UpdateOptions{})
	_, errs["finalize"] = r.UpdateSubresource(t.Context(), "a", "finalize", object, api.UpdateOptions{})
	_, errs["patch"] = r.Patch(t.Context(), "a", api.MergePatchType, []byte("{}"), api.UpdateOptions{})
	errs["delete"] = r.Delete(t.Context(), "a", api.DeleteOptions{})
	_, _, errs["deletecollection"] = r.DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
	errs["raw"] = client.Do(t.Context(), get("/readyz"), nil)
	return errs
}

// A redirected DELETE would become a GET whose 200 counts as success, or a DELETE of something
// else; and any redirect would take the token along.
func TestNoRedirectIsFollowed(t *testing.T) {
	for location, host := range map[string]string{
		"/login":                       "apiserver.test",
		"https://apiserver.test:6444/": "apiserver.test:6444",
		"http://user:pw@elsewhere.test/api/v1/namespaces/kube-system/configmaps": "elsewhere.test",
		"//elsewhere.test/":         "elsewhere.test",
		"http://elsewhere.test/%zz": "",
		"":                          "",
	} {
		for _, code := range []int{300, 301, 302, 303, 307, 308} {
			for _, transport := range []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket} {
				bubble(t, func(w http.ResponseWriter, r *http.Request) {
					if location != "" {
						w.Header().Set("Location", location)
					}
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(code)
				}, func(t *testing.T, server *restclienttest.Server) {
					client := server.Client(func(cfg *restclient.Config) {
						cfg.WatchTransport = transport
						cfg.Credentials = &tokens{list: []string{"s3cret"}}
					})
					errs := calls(t, client)
					for verb, err := range errs {
						var redirect *restclient.RedirectError
						require.ErrorAs(t, err, &redirect, "%s answered %d to %q: a redirect is an error of its own",
							verb, code, location)
						assert.Equal(t, host, redirect.Host, "%s: the error names the host of the Location %q", verb,
							location)
						assert.Equal(t, code, redirect.Code)
						assert.ErrorContains(t, err, host)
						assert.NotContains(t, err.Error(), "pw", "the password of a Location is not shown")
						assert.False(t, api.IsNotFound(err) || api.IsExpired(err),
							"a redirect says nothing about the object")
					}
					assert.Len(t, server.Requests(), len(errs), "a redirect is neither followed nor repeated")
				})
			}
		}
	}
}

// A 101 to a request that asked for no upgrade is no success.
func TestSwitchingProtocolsUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hijacked(w, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		}))
		client := server.Client(func(cfg *restclient.Config) { cfg.SilenceTimeout = time.Second })
		for verb, err := range calls(t, client) {
			assert.Error(t, err, "%s answered 101", verb)
		}
	})
}
