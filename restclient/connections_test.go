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
