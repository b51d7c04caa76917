package restclient_test

import (
	"cmp"
	"context"
	"fmt"
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
