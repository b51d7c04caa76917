package e2e_test

import (
	"context"
	"fmt"
	"net"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
	"orrery/restclient/kubeconfig"
	"orrery/upstream/apiserver/served"
	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

// TestInformersThroughDisturbances runs informers of typed objects, of metadata and of whole
// documents, over both watch transports, while writers go on. Meanwhile kube-apiserver is
// restarted, killed and loses its history, or the server in memory gets the corresponding faults.
// At the end every store equals what client-go lists, and so does the history that each handler
// received, whether it was added at the start or between disturbances.
func TestInformersThroughDisturbances(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]controlplane.Config{
		"as it comes": {},
		"an old one":  {DisableWatchCache: true, APIServerArgs: []string{"--feature-gates=WatchList=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config.Log = t.Output()
			cp, err := controlplane.Start(t.Context(), config)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, cp.Stop()) })
			disturb(t, cp, genuineDisturbances(cp), !config.DisableWatchCache)
		})
	}
	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		server, err := served.Start(t.Context(), served.Config{Log: t.Output()})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, server.Stop()) })
		disturb(t, server, faults(server), true)
	})
}

// disturbance is one fault of a server.
type disturbance struct {
	name string
	do   func(context.Context) error
}

func genuineDisturbances(cp *controlplane.ControlPlane) []disturbance {
	return []disturbance{
		{"restart of kube-apiserver", cp.RestartAPIServer},
		{"compaction of etcd", func(ctx context.Context) error {
			_, err := cp.CompactEtcd(ctx)
			return err
		}},
		{"crash of kube-apiserver", func(ctx context.Context) error {
			cp.KillAPIServer()
			return cp.StartAPIServer(ctx)
		}},
		{"loss of history", cp.ForgetHistory},
	}
}

func faults(server *served.Server) []disturbance {
	order := func(texts ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			for _, text := range texts {
				if _, err := server.Add(ctx, text); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return []disturbance{
		{"broken connections", order("cut-watches")},
		{"compaction", order("compact")},
		{"overload", order("too-many-requests:share=50%,retry-after=1s,for=3s", "internal-error:share=10%,for=3s", "cut-watches")},
		{"loss of history", order("too-many-requests:verb=watch,retry-after=1s,for=2s", "cut-watches", "compact:every=1s,for=2s")},
	}
}

// disturb causes each disturbance. streams reports whether the server has streaming lists.
func disturb(t *testing.T, cp e2e.Server, disturbances []disturbance, streams bool) {
	// Goroutines inherit labels: these tell the informers of this test from those of a parallel one.
	pprof.SetGoroutineLabels(pprof.WithLabels(t.Context(), pprof.Labels("test", t.Name())))
	source := newWriters(t, cp)
	source.fill()
	over := map[restclient.WatchTransport]*observers{}
	for _, transport := range []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket} {
		over[transport] = startObservers(t, cp, transport)
	}
	stopWriting := source.start()
	for _, disturbance := range disturbances {
		time.Sleep(writingTime)
		t.Log(disturbance.name)
		require.NoError(t, disturbance.do(t.Context()))
		for _, o := range over {
			o.join(t) // at an arbitrary moment
		}
		source.awaitWrites(t, cp)
	}
	time.Sleep(writingTime)
	stopWriting()
	require.NotEmpty(t, goroutinesOfGears(t.Name()), "informers that run are found")

	for transport, o := range over {
		o.awaitEqual(t, cp, source)
		for _, w := range o.watched {
			shot := w.snapshot()
			t.Logf("%s over %s: %d objects, %d lists, %d watches, %d events, %d bookmarks", w.name(), transport,
				shot.Objects, shot.Reflector.Lists, shot.Reflector.Watches, shot.Reflector.Events, shot.Reflector.Bookmarks)
			assert.Equal(t, streams, shot.Reflector.StreamingList, "%s: streaming lists are used where available", w.name())
			assert.Zero(t, shot.ProcessErrors, "%s: %v", w.name(), shot.LastProcessError)
			assert.Zero(t, shot.Reflector.StoreErrors, "%s: %v", w.name(), shot.Reflector.LastStoreError)
		}
		o.stop(t)
	}
	requireNoGoroutinesOfGears(t)
}

// writingTime is the pause between disturbances. It only affects how much is written.
const writingTime = 2 * time.Second

// observers holds three informers over one client.
type observers struct {
	client      *restclient.Client
	connections atomic.Int64 // open ones
	informers   informer.SharedInformerFactory
	watched     []watched
}

func startObservers(t *testing.T, cp e2e.Server, transport restclient.WatchTransport) *observers {
	t.Helper()
	o := &observers{}
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: cp.Kubeconfig()})
	require.NoError(t, err)
	config.WatchTransport = transport
	config.Dial = o.dial
	config.Codec = fast.Codec{}
	o.client, err = restclient.New(config)
	require.NoError(t, err)
	// After any failure the informers end before the server.
	t.Cleanup(func() { o.informers.Shutdown() })

	o.watched = []watched{
		observe(o, restclient.Typed[*api.Namespace](o.client, api.NamespacesResource, "")),
		observe(o, restclient.Metadata(o.client, configMaps, "")),
		observe(o, restclient.Dynamic(o.client, widgets, "")),
		observe(o, restclient.Dynamic(o.client, configMaps, "")), // the items of its lists have no kind
	}
	o.join(t)
	require.NoError(t, o.informers.Start(context.WithoutCancel(t.Context())))
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	require.NoError(t, o.informers.WaitForCacheSync(ctx))
	return o
}

// dial counts connections.
func (o *observers) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	o.connections.Add(1)
	return &countedConn{Conn: conn, open: &o.connections}, nil
}

type countedConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if !c.closed.Swap(true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// join adds a handler to every informer.
func (o *observers) join(t *testing.T) {
	t.Helper()
	for _, w := range o.watched {
		require.NoError(t, w.join())
	}
}

// awaitEqual blocks until every store and every history equals what the server lists. The writers
// have ended.
func (o *observers) awaitEqual(t *testing.T, cp e2e.Server, source *writers) {
	t.Helper()
	for _, w := range o.watched {
		want := source.list(t, w.resource())
		var difference error
		await(t, cp, fmt.Sprintf("%s equal the server", w.name()), func() error {
			difference = w.compare(want)
			return difference
		})
	}
}

// stop ends the informers and checks that nothing is left.
func (o *observers) stop(t *testing.T) {
	t.Helper()
	o.informers.Shutdown()
	o.client.Close()
	assert.Zero(t, o.client.Snapshot().Watches)
	assert.Zero(t, o.client.Snapshot().InFlight)
	// A connection that was being opened for a cancelled request is closed once it is open. A
	// leaked one would be closed by the pool when idle, which takes longer than this wait.
	assert.Eventually(t, func() bool { return o.connections.Load() == 0 }, untilIdle/2, 50*time.Millisecond, "no connection is open")
}

// untilIdle is when restclient and kube-apiserver close idle connections.
const untilIdle = 90 * time.Second

// waitTimeout is reached only by a failing test.
const waitTimeout = 10 * time.Minute

// await polls until check returns nil.
func await(t *testing.T, cp e2e.Server, what string, check func() error) {
	t.Helper()
	deadline := time.After(waitTimeout)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-cp.Failed():
			t.Fatalf("waiting until %s: the server failed: %v", what, cp.Err())
		case <-deadline:
			t.Fatalf("waiting until %s: %v", what, err)
		}
	}
}

// eventually waits for a condition that needs no server.
func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	assert.Eventually(t, condition, waitTimeout, 50*time.Millisecond, what)
}

// requireNoGoroutinesOfGears checks that this test has left none. A goroutine may need a moment for
// its last instructions after it has reported its end.
func requireNoGoroutinesOfGears(t *testing.T) {
	t.Helper()
	var found []string
	assert.Eventually(t, func() bool {
		found = goroutinesOfGears(t.Name())
		return len(found) == 0
	}, untilIdle/2, 50*time.Millisecond, "informers that have ended leave nothing")
	require.Empty(t, found)
}

// goroutinesOfGears returns the stacks of goroutines that a test has labelled with its name and that
// run an informer, a queue of deltas or a client.
func goroutinesOfGears(test string) []string {
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil { // 1: text, with labels
		return []string{err.Error()}
	}
	var found []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if !strings.Contains(stack, fmt.Sprintf("%q:%q", "test", test)) {
			continue
		}
		for _, gear := range []string{"orrery/informer", "orrery/deltafifo", "orrery/restclient"} {
			if strings.Contains(stack, gear) {
				found = append(found, stack)
				break
			}
		}
	}
	return found
}
