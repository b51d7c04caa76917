package integration_test

import (
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/informer/reflector"
	"orrery/internal/lab/faultnet"
	"orrery/restclient"
	"orrery/restclient/fast"
)

// overBadLink returns a world whose connections use link, with the default idle timeouts.
func overBadLink(t *testing.T, over way, link *faultnet.Link) *world {
	w := newWorld(t, over, func(cfg *restclient.Config) {
		cfg.Dial = link.Dial(cfg.Dial)
		cfg.SilenceTimeout = 0
	})
	w.settings.IdleTimeout = 0
	w.set("a", "1")
	return w
}

// watches returns the number of watch requests of each informer.
func watches(w *world) (counts []int) {
	for _, s := range w.subjects {
		counts = append(counts, s.Snapshot().Reflector.Watches)
	}
	return counts
}

// replaced asserts that each informer has asked for another watch since before.
func replaced(t *testing.T, before []int, w *world) {
	t.Helper()
	for i, count := range watches(w) {
		assert.Greater(t, count, before[i], "an informer still reads a dead connection")
	}
}

// The connections go dead without an error, while new ones work. Every transport notices within
// sixty seconds and gets the missed events without a new list.
func TestAZombieWatchIsReplacedWithinAMinute(t *testing.T) {
	for _, over := range ways {
		t.Run(over.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var link faultnet.Link
				w := overBadLink(t, over, &link)
				w.run()
				defer func() { assert.NoError(t, w.stop()) }()
				time.Sleep(time.Hour + 20*time.Second) // quiet and healthy
				link.BlackHole(true)
				w.set("b", "2")
				synctest.Wait()
				link.Heal() // connections that lost bytes stay dead
				require.Positive(t, link.Snapshot().Dead)
				before := watches(w)
				time.Sleep(time.Minute)
				synctest.Wait()
				replaced(t, before, w)
				assert.NoError(t, w.verify())
				for _, s := range w.subjects {
					assert.Equal(t, 1, s.Snapshot().Reflector.Lists)
				}
			})
		})
	}
}

// Nothing passes for ten minutes, on old and new connections. The informers notice within sixty
// seconds and catch up when the link is healed.
func TestADeadLinkIsNoticedWithinAMinute(t *testing.T) {
	for _, over := range ways {
		t.Run(over.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var link faultnet.Link
				w := overBadLink(t, over, &link)
				w.run()
				defer func() { assert.NoError(t, w.stop()) }()
				time.Sleep(10*time.Minute + 17*time.Second)
				link.BlackHole(true)
				before := watches(w)
				time.Sleep(time.Minute)
				replaced(t, before, w)
				w.set("b", "2")
				time.Sleep(9 * time.Minute)
				link.Heal()
				time.Sleep(3 * time.Minute) // a back-off of up to a minute, and requests lost in the hole
				synctest.Wait()
				assert.NoError(t, w.verify())
			})
		})
	}
}

// The same with real sockets, a proxy that stops forwarding, and short timeouts.
func TestAZombieWatchOverTCP(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	for _, over := range ways {
		t.Run(over.name, func(t *testing.T) {
			w := newWorld(t, over, nil)
			server := httptest.NewUnstartedServer(w.apiServer)
			server.EnableHTTP2 = true
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			scheme := "http://"
			if over.tls {
				scheme = "https://"
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			var link faultnet.Link
			proxy, err := faultnet.NewProxy("127.0.0.1:0", server.Listener.Addr().String(), &link)
			require.NoError(t, err)
			defer proxy.Close()
			w.client, err = restclient.New(restclient.Config{
				Host: scheme + proxy.Addr().String(), TLS: restclient.TLS{Insecure: over.tls}, WatchTransport: over.watch, QPS: -1,
				Codec: fast.Codec{}, Credentials: &w.token, PingInterval: 100 * time.Millisecond, PingTimeout: time.Second,
			})
			require.NoError(t, err)
			defer w.client.Close()
			w.settings.IdleTimeout = time.Minute
			if over.watch == restclient.WatchHTTP && !over.tls {
				w.settings.IdleTimeout = 3 * time.Second // the shortest time limit a server can be asked for
			}
			w.set("a", "1")
			w.run()
			eventually(t, func() bool { return w.verify() == nil && watching(w) })
			link.BlackHole(true)
			asked := watches(w)
			w.set("b", "2")
			eventually(t, func() bool { return link.Snapshot().Dead > 0 })
			link.Heal()
			// A ping may be lost where the event was only late: then the watch is opened anew after
			// the event.
			eventually(t, func() bool { return w.verify() == nil && !slices.Equal(asked, watches(w)) })
			w.cancel()
			w.informers.Shutdown()
		})
	}
}

// watching reports whether all informers have their watch open.
func watching(w *world) bool {
	for _, s := range w.subjects {
		if s.Snapshot().Reflector.Phase != reflector.PhaseWatching {
			return false
		}
	}
	return true
}

// eventually polls until holds returns true; only a failure reaches the limit.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, 2*time.Minute, 5*time.Millisecond)
}
