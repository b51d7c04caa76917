package chaos_test

import (
	"context"
	"io"
	"log"
	"maps"
	"net"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/informer"
	informerfast "orrery/informer/fast"
	"orrery/informer/reflector"
	"orrery/internal/lab/chaos"
	"orrery/internal/lab/clustertest"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
	"orrery/restclient/restclienttest"
)

// world is the server in memory, and three informers over one client whose connections can be
// broken: of typed objects, of metadata, and of whole documents.
type world struct {
	*clustertest.Cluster
	t         *testing.T
	link      chaos.Link
	exhausted atomic.Bool // the process has no file descriptors left
	informers []watched
}

// watched is an informer of any type.
type watched struct {
	path     string // of its collection
	run      func(context.Context) error
	content  func() map[string]string // the versions in its store, by key
	snapshot func() informer.Snapshot
}

// way is how a client reaches the server.
type way struct {
	name  string
	tls   bool // over TLS, HTTP is HTTP/2
	watch restclient.WatchTransport
}

var ways = []way{
	{"http", false, restclient.WatchHTTP},
	{"http2", true, restclient.WatchHTTP},
	{"websocket", false, restclient.WatchWebSocket},
	{"websocket over tls", true, restclient.WatchWebSocket},
}

// overEachWay runs a test over each transport, in a bubble, when the informers have run for a
// minute. Then it checks that the stores equal the server's collections, that each position was
// kept, and that no connection is left.
func overEachWay(t *testing.T, test func(t *testing.T, w *world)) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{t: t, Cluster: clustertest.Start(t, clustertest.Bare, nil)}
				link := restclienttest.NewServer(t, w.Server.Handler())
				if way.tls {
					link = restclienttest.NewTLSServer(t, w.Server.Handler(), restclienttest.NewAuthority(t), nil)
				}
				config := link.Config()
				config.Dial = w.dialer(w.link.Dial(config.Dial))
				client, stop := w.start(way, config, 0)
				time.Sleep(time.Minute)
				w.requireCaughtUp()

				test(t, w)
				synctest.Wait()
				w.requireCaughtUp()
				for _, one := range w.informers {
					assert.Equal(t, 1, one.snapshot().Reflector.Lists, "%s: the position was kept", one.path)
				}
				stop()
				client.Close()
				synctest.Wait()
				assert.Zero(t, link.Connections())
			})
		})
	}
}

// start creates the first objects, and runs the informers until stop is called.
func (w *world) start(over way, config restclient.Config, idle time.Duration) (client *restclient.Client, stop func()) {
	w.t.Helper()
	config.Codec = fast.Codec{} // as in orrery run
	config.WatchTransport, config.Credentials = over.watch, restclienttest.Bearer(w.Server.Token())
	client, err := restclient.New(config)
	require.NoError(w.t, err)
	secrets := api.GroupVersionResource{Version: "v1", Resource: "secrets"}
	watch(w, "/api/v1/namespaces", restclient.Typed[*api.Namespace](client, api.NamespacesResource, ""), idle)
	watch(w, "/api/v1/configmaps", restclient.Metadata(client, api.ConfigMapsResource, ""), idle)
	watch(w, "/api/v1/secrets", restclient.Dynamic(client, secrets, ""), idle)
	w.add("before")
	kill, ended := w.Start(w.informers[0].run, w.informers[1].run, w.informers[2].run)
	return client, func() {
		kill()
		<-ended
	}
}

// dialer returns dial, which fails while the process has no file descriptors left.
func (w *world) dialer(dial chaos.DialFunc) chaos.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if w.exhausted.Load() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
		}
		return dial(ctx, network, addr)
	}
}

// watch adds an informer of the collection at path. idle is its idle timeout; 0 is the default.
func watch[T informer.Object](w *world, path string, resource *restclient.Resource[T], idle time.Duration) {
	shared := informer.NewSharedIndexInformer(resource, informer.Config[T]{
		Name: path, Gears: informerfast.Gears[T](),
		Reflector: reflector.Config[T]{DisableWatchList: true, IdleTimeout: idle},
	})
	w.informers = append(w.informers, watched{
		path: path, run: shared.Run, snapshot: shared.Snapshot,
		content: func() map[string]string { return versions(shared.GetIndexer().List()) },
	})
}

func versions[T informer.Object](objects []T) map[string]string {
	content := map[string]string{}
	for _, object := range objects {
		content[object.GetNamespace()+"/"+object.GetName()] = object.GetResourceVersion()
	}
	return content
}

// add creates an object of each type.
func (w *world) add(name string) {
	w.t.Helper()
	object := `{"metadata":{"name":"` + name + `"}}`
	w.Must("POST", "/api/v1/namespaces", object)
	w.Must("POST", "/api/v1/namespaces/default/configmaps", object)
	w.Must("POST", "/api/v1/namespaces/default/secrets", object)
}

// requireCaughtUp checks that each store equals the server's collection.
func (w *world) requireCaughtUp() {
	w.t.Helper()
	for _, one := range w.informers {
		require.Equal(w.t, w.served(one), one.content(), one.path)
	}
}

// served returns the versions of the server's objects, by key.
func (w *world) served(one watched) map[string]string {
	list := clustertest.Get[api.List[*api.PartialObjectMetadata]](w.Cluster, one.path)
	return versions(list.Items)
}

// eventually waits until each store equals the server's collection and more holds; only a failure
// reaches the limit.
func (w *world) eventually(more func(watched) bool) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		behind := func(one watched) bool { return !maps.Equal(w.served(one), one.content()) || !more(one) }
		return !slices.ContainsFunc(w.informers, behind)
	}, 2*time.Minute, 5*time.Millisecond)
}

// watches returns the number of watch requests of each informer.
func (w *world) watches() (counts []int) {
	for _, one := range w.informers {
		counts = append(counts, one.snapshot().Reflector.Watches)
	}
	return counts
}

// replaced asserts that each informer has asked for another watch since before.
func (w *world) replaced(before []int) {
	w.t.Helper()
	for i, count := range w.watches() {
		assert.Greater(w.t, count, before[i], "an informer still reads a dead connection")
	}
}

// The connections go dead without an error, while new ones work. Every transport notices within
// sixty seconds and gets the missed events without a new list.
func TestAZombieWatchIsReplacedWithinAMinute(t *testing.T) {
	overEachWay(t, func(t *testing.T, w *world) {
		time.Sleep(time.Hour + 20*time.Second) // quiet and healthy
		w.link.BlackHole(true)
		w.add("missed")
		synctest.Wait()
		w.link.Heal() // connections that lost bytes stay dead
		require.Positive(t, w.link.Snapshot().Dead)
		before := w.watches()
		time.Sleep(time.Minute)
		w.replaced(before)
	})
}

// The same with real sockets, a proxy that stops forwarding, and short timeouts.
func TestAZombieWatchOverTCP(t *testing.T) {
	for _, over := range ways {
		t.Run(over.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			w := &world{t: t, Cluster: clustertest.Start(t, clustertest.Bare, nil)}
			server := httptest.NewUnstartedServer(w.Server.Handler())
			server.EnableHTTP2, server.Config.ErrorLog = true, log.New(io.Discard, "", 0)
			idle := time.Minute
			if over.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			if !over.tls && over.watch == restclient.WatchHTTP {
				idle = 3 * time.Second // the shortest time limit a server can be asked for
			}
			t.Cleanup(server.Close)
			proxy, err := chaos.NewProxy("127.0.0.1:0", server.Listener.Addr().String(), &w.link)
			require.NoError(t, err)
			t.Cleanup(func() { proxy.Close() })
			scheme, _, _ := strings.Cut(server.URL, ":")
			client, stop := w.start(over, restclient.Config{
				Host: scheme + "://" + proxy.Addr().String(), TLS: restclient.TLS{Insecure: over.tls}, QPS: -1,
				PingInterval: 100 * time.Millisecond, PingTimeout: time.Second,
			}, idle)
			defer client.Close()
			defer stop()
			w.eventually(func(one watched) bool { return one.snapshot().Reflector.Phase == reflector.PhaseWatching })
			w.link.BlackHole(true)
			asked := w.watches()
			w.add("missed")
			require.Eventually(t, func() bool { return w.link.Snapshot().Dead > 0 }, 2*time.Minute, 5*time.Millisecond)
			w.link.Heal()
			// A ping may be lost where the event was only late: then the watch is opened anew after
			// the event.
			w.eventually(func(watched) bool { return !slices.Equal(asked, w.watches()) })
		})
	}
}

// Nothing passes for ten minutes, on old and new connections. The informers notice within sixty
// seconds and catch up when the link is healed.
func TestADeadLinkIsNoticedWithinAMinute(t *testing.T) {
	overEachWay(t, func(t *testing.T, w *world) {
		time.Sleep(10*time.Minute + 17*time.Second)
		w.link.BlackHole(true)
		before := w.watches()
		time.Sleep(time.Minute)
		w.replaced(before)
		w.add("missed")
		time.Sleep(9 * time.Minute)
		w.link.Heal()
		time.Sleep(3 * time.Minute) // a back-off of up to a minute, and requests lost in the hole
	})
}

// The connections break, and new ones fail because the process has no file descriptors left. The
// informers back off, keep their stores and positions, and resume when descriptors are available.
func TestNoFileDescriptorForTenMinutes(t *testing.T) {
	overEachWay(t, func(t *testing.T, w *world) {
		w.exhausted.Store(true)
		w.link.Cut()
		w.add("missed")
		time.Sleep(10 * time.Minute)
		for _, one := range w.informers {
			shot := one.snapshot().Reflector
			var broken *restclient.TransportError
			require.ErrorAs(t, shot.LastError, &broken)
			assert.Equal(t, restclient.HostUnreachable, broken.Kind)
			assert.Equal(t, reflector.CauseUnreachable, reflector.CauseOf(shot.LastError))
			assert.Less(t, shot.Watches, 40, "it backs off")
		}
		w.exhausted.Store(false)
		time.Sleep(time.Minute)
	})
}
