package restclient_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
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

// closing runs a test over HTTP/1.1, HTTP/2 and websockets, against a server that answers requests
// and leaves watches open.
func closing(t *testing.T, test func(t *testing.T, server *restclienttest.Server, client *restclient.Client)) {
	t.Helper()
	for _, transport := range transports {
		for _, secure := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				server := restclienttest.NewServer(t, quiet)
				if secure {
					server = restclienttest.NewTLSServer(t, quiet, restclienttest.NewAuthority(t), nil)
				}
				test(t, server, server.Client(over(transport)))
			})
		}
	}
}

// net/http does not count an HTTP/2 connection as idle just after its last stream was cancelled,
// and would keep it for another 90 seconds.
func TestCloseLeavesNoConnection(t *testing.T) {
	closing(t, func(t *testing.T, server *restclienttest.Server, client *restclient.Client) {
		for range 20 {
			w := watchOf(t, client)
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
			client := server.Client(over(transport))
			_, err := podsOf(client).Watch(t.Context(), api.ListOptions{})
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
		w := watchOf(t, client)
		client.Close()
		time.AfterFunc(time.Minute, w.Stop)
		start := time.Now()
		_, err := w.Next()
		assert.ErrorIs(t, err, restclient.ErrWatchStopped)
		assert.Equal(t, time.Minute, time.Since(start))
		synctest.Wait()
		assert.Zero(t, server.Connections(), "the connection goes with its last watch")
	})
}

// net/http itself drops a connection that is still being opened when its request is cancelled. A
// second request makes it keep idle connections again, and so the one that the first began to open.
func TestAConnectionThatIsOpenedTooLateIsClosed(t *testing.T) {
	for _, requests := range []int{1, 2} {
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
			if requests == 2 {
				require.NoError(t, client.Do(t.Context(), get("/"), nil), "a closed client still works")
			}
			time.Sleep(time.Minute) // long enough to open it, too short for net/http to find it idle for too long
			synctest.Wait()
			assert.Equal(t, requests, server.Dialled())
			assert.Zero(t, server.Connections())
		})
	}
}

// named are the errors of the requests for one object, by verb.
func named(t *testing.T, r *restclient.Resource[*api.Namespace], name string) map[string]error {
	object, options := namespace(name, "1"), api.UpdateOptions{}
	return map[string]error{
		"get":                  errorOf(r.Get(t.Context(), name, api.GetOptions{})),
		"update":               errorOf(r.Update(t.Context(), object, options)),
		"update of the status": errorOf(r.UpdateStatus(t.Context(), object, options)),
		"finalize":             errorOf(r.UpdateSubresource(t.Context(), name, "finalize", object, options)),
		"patch":                errorOf(r.Patch(t.Context(), name, api.MergePatchType, []byte("{}"), options)),
		"delete":               r.Delete(t.Context(), name, api.DeleteOptions{}),
	}
}

// calls are the requests of a Resource, by verb.
func calls(t *testing.T, r *restclient.Resource[*api.Namespace]) map[string]error {
	errs := named(t, r, "a")
	errs["list"] = errorOf(r.List(t.Context(), api.ListOptions{}))
	errs["watch"] = errorOf(r.Watch(t.Context(), api.ListOptions{}))
	errs["create"] = errorOf(r.Create(t.Context(), namespace("a", "1"), api.UpdateOptions{}))
	_, _, errs["deletecollection"] = r.DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
	return errs
}

// A redirected DELETE would become a GET whose 200 counts as success, or a DELETE of something
// else; and any redirect would take the token along.
func TestNoRedirectIsFollowed(t *testing.T) {
	for location, host := range map[string]string{
		"/login":                       `"apiserver.test"`,
		"https://apiserver.test:6444/": `"apiserver.test:6444"`,
		"http://user:pw@elsewhere.test/api/v1/namespaces/kube-system/configmaps": `"elsewhere.test"`,
		"//elsewhere.test/":         `"elsewhere.test"`,
		"http://elsewhere.test/%zz": "",
		"":                          "",
	} {
		for _, code := range []int{300, 301, 302, 303, 307, 308} {
			for _, transport := range transports {
				bubble(t, func(w http.ResponseWriter, r *http.Request) {
					if location != "" {
						w.Header().Set("Location", location)
					}
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(code)
				}, func(t *testing.T, server *restclienttest.Server) {
					client := server.Client(over(transport), as(&tokens{list: []string{"s3cret"}}))
					errs := calls(t, namespacesOf(client))
					errs["raw"] = client.Do(t.Context(), get("/readyz"), nil)
					want := fmt.Sprintf("answered %d, a redirect to %s, which is not followed", code,
						cmp.Or(host, "an unknown place"))
					for verb, err := range errs {
						assertKind(t, restclient.Redirected, err, "%s answered %d to %q", verb, code, location)
						assert.ErrorContains(t, err, want, "the error names the host of the Location %q", location)
						assert.NotContains(t, err.Error(), "pw", "the password of a Location is not shown")
						assert.Zero(t, api.CodeOf(err), "a redirect says nothing about the object")
					}
					assert.Len(t, server.Requests(), len(errs), "a redirect is neither followed nor repeated")
				})
			}
		}
	}
}

// carrier is a transport for a watch.
type carrier struct {
	name         string
	transport    restclient.WatchTransport
	secure       bool // TLS, and so HTTP/2 where it is not a websocket
	hasKeepalive bool
}

var carriers = []carrier{
	{"HTTP/1.1", restclient.WatchHTTP, false, false},
	{"HTTP/2", restclient.WatchHTTP, true, true},
	{"websocket", restclient.WatchWebSocket, false, true},
	{"websocket over TLS", restclient.WatchWebSocket, true, true},
}

// overBadLink runs a test over each carrier, in a bubble, over a link that can be broken.
func overBadLink(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, c carrier, link *chaos.Link,
	client *restclient.Client), changes ...func(*restclient.Config)) {
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := restclienttest.NewServer(t, handler)
				if c.secure {
					server = restclienttest.NewTLSServer(t, handler, restclienttest.NewAuthority(t), nil)
				}
				var link chaos.Link
				test(t, c, &link, server.Client(append(changes, func(cfg *restclient.Config) {
					cfg.Dial = link.Dial(server.Dial)
					cfg.WatchTransport = c.transport
				})...))
			})
		})
	}
}

// The most reported failure of Kubernetes clients: the peer is gone without an error, and a watch
// waits forever. Protocols with pings find out within 45 seconds; for the others the watcher
// reports that it cannot.
func TestAZombieWatchIsFoundOut(t *testing.T) {
	overBadLink(t, quiet, func(t *testing.T, c carrier, link *chaos.Link, client *restclient.Client) {
		pods := podsOf(client)
		_, err := pods.List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, c.hasKeepalive, pods.HasKeepalive(), "a Resource knows it from earlier requests")
		w, err := pods.Watch(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, c.hasKeepalive, pods.HasKeepalive())
		assert.Equal(t, c.hasKeepalive, w.(interface{ HasKeepalive() bool }).HasKeepalive())
		time.AfterFunc(6*time.Hour, func() { link.BlackHole(true) }) // up to then it is only a quiet watch
		time.AfterFunc(12*time.Hour, w.Stop)
		start := time.Now()
		_, err = w.Next()
		silence := time.Since(start) - 6*time.Hour
		if !c.hasKeepalive {
			assert.ErrorIs(t, err, restclient.ErrWatchStopped)
			return
		}
		var broken *restclient.TransportError
		require.ErrorAs(t, err, &broken)
		assert.True(t, broken.Unreachable())
		if c.transport == restclient.WatchWebSocket {
			assert.Equal(t, restclient.ConnectionDead, broken.Kind, "%v", err)
			assert.ErrorContains(t, err, "is dead, not even pings are answered")
		} else {
			assert.ErrorContains(t, err, "connection lost") // net/http has a sentence of its own
		}
		assert.Positive(t, silence)
		assert.LessOrEqual(t, silence, 45*time.Second)
	})
}

// A watch that breaks for another reason is not called a zombie, however long it was quiet.
func TestACutIsNoZombie(t *testing.T) {
	overBadLink(t, quiet, func(t *testing.T, c carrier, link *chaos.Link, client *restclient.Client) {
		w := watchOf(t, client)
		time.AfterFunc(time.Hour+7*time.Second, link.Cut)
		_, err := w.Next()
		assertKind(t, restclient.ConnectionLost, err, "not ConnectionDead: %v", err)
	})
}

// Every request over a dead link ends: over HTTP/2 by the pings and then by the connect timeout,
// elsewhere because nothing has come for too long.
func TestNoRequestHangsOnADeadLink(t *testing.T) {
	overBadLink(t, quiet, func(t *testing.T, c carrier, link *chaos.Link, client *restclient.Client) {
		pods := podsOf(client)
		_, err := pods.List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		link.BlackHole(true)
		for what, request := range map[string]func() error{
			"list":  func() error { return errorOf(pods.List(t.Context(), api.ListOptions{})) },
			"watch": func() error { return errorOf(pods.Watch(t.Context(), api.ListOptions{})) },
			"delete": func() error {
				return client.Do(t.Context(),
					restclient.Request{Verb: "DELETE", Path: "/x"}, nil)
			},
		} {
			start := time.Now()
			err = request()
			var broken *restclient.TransportError
			require.ErrorAs(t, err, &broken, what)
			assert.True(t, broken.Unreachable(), "%s: %v", what, err)
			assert.LessOrEqual(t, time.Since(start), 2*time.Minute, what)
		}
		link.Heal()
		_, err = pods.List(t.Context(), api.ListOptions{})
		assert.NoError(t, err)
	})
}

// Only the direction to the server is dead: watch events still arrive, so no ping is sent, and
// requests on the shared connection would never be answered. However the first of them ends, the
// next one gets a new connection.
func TestAConnectionThatIsDeadInOneDirectionIsLeft(t *testing.T) {
	for limit, c := range map[string]struct{ timeout, deadline time.Duration }{
		"silence":              {0, time.Hour},
		"Timeout":              {30 * time.Second, time.Hour},
		"the caller's context": {0, time.Second},
	} {
		t.Run(limit, func(t *testing.T) {
			overBadLink(t, chatty, func(t *testing.T, _ carrier, link *chaos.Link, client *restclient.Client) {
				pods := podsOf(client)
				list := func() error {
					ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
					defer cancel()
					return errorOf(pods.List(api.WithSingleAttempt(ctx), api.ListOptions{}))
				}
				w, err := pods.Watch(t.Context(), api.ListOptions{})
				require.NoError(t, err)
				require.NoError(t, list())
				go func() {
					for err := error(nil); err == nil; _, err = w.Next() {
					}
				}()
				time.Sleep(time.Second) // the list was answered before
				link.BlackHole(true, chaos.Sent)
				require.Error(t, list())
				link.Heal()
				assert.NoError(t, list())
				w.Stop()
			}, func(cfg *restclient.Config) { cfg.Timeout = c.timeout })
		})
	}
}

// chatty serves watches with a bookmark every five seconds.
var chatty = watches(func(s *restclienttest.Stream) {
	for s.Send(api.WatchBookmark, namespace("", "1")) == nil {
		s.Flush()
		time.Sleep(5 * time.Second)
	}
})

// A connection on which other requests are answered is not to blame for a slow answer, and a caller
// whose timeout is shorter than a handshake must not start one after the other.
func TestAConnectionThatAnswersOrIsBeingOpenedIsKept(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(time.Minute)
		}
		io.WriteString(w, `1`)
	}
	synctest.Test(t, func(t *testing.T) {
		server := restclienttest.NewTLSServer(t, http.HandlerFunc(slow), restclienttest.NewAuthority(t), nil)
		var link chaos.Link
		client := server.Client(func(cfg *restclient.Config) { cfg.Dial = link.Dial(server.Dial) })
		do := func(path string, timeout time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			return client.Do(ctx, get(path), nil)
		}
		link.Delay(3 * time.Second)
		require.ErrorIs(t, do("/", time.Second), context.DeadlineExceeded)
		time.Sleep(10 * time.Second) // the handshake ends
		link.Heal()
		for range 3 {
			require.NoError(t, do("/", time.Second))
			time.AfterFunc(time.Second, func() { assert.NoError(t, do("/", time.Second)) })
			require.ErrorIs(t, do("/slow", 2*time.Second), context.DeadlineExceeded)
		}
		assert.Equal(t, 1, server.Dialled())
	})
}

// The limit is for silence, not for the whole request: a slow response may take its time.
func TestSilenceTimeout(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(80 * time.Second)
		for range 10 {
			io.WriteString(w, `[1,`)
			http.NewResponseController(w).Flush()
			time.Sleep(80 * time.Second)
		}
		if r.URL.Path == "/hangs" {
			time.Sleep(time.Hour)
		}
		io.WriteString(w, `1`)
	}
	bubble(t, slow, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client()
		var body []byte
		require.NoError(t, client.Do(t.Context(), get("/"), &body))
		assert.Len(t, body, 31)

		start := time.Now()
		err := client.Do(t.Context(), get("/hangs"), &body)
		assertKind(t, restclient.TimedOut, err)
		assert.ErrorContains(t, err, "nothing has come for too long (1m30s)")
		assert.Equal(t, 80*time.Second*10+90*time.Second, time.Since(start)) // the eleventh silence
	})
}
