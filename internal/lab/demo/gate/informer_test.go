package gate_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/observe/trace"
	"orrery/restclient/api"
	"orrery/wait"
)

type namespace = *api.Namespace

// pipeline is an informer with gates in a bubble, and the calls of its one handler.
type pipeline struct {
	*informer.SharedIndexInformer[namespace]
	t        *testing.T
	gates    *gate.Gates
	source   *informertest.FakeSource[namespace]
	recorder *trace.Recorder
	queue    informer.Queue[namespace] // without a gate
	cancel   context.CancelFunc
	ended    chan struct{}
	handled  *informer.Registration // of its one handler

	distributed atomic.Int32 // calls of the hook

	mu    sync.Mutex
	calls []string // guarded by mu
}

// inPipeline runs a test with an informer that has the namespace "old", for several sets of gears.
func inPipeline(t *testing.T, test func(p *pipeline)) {
	forms(t, func(t *testing.T, set gears.Set) {
		p := newPipeline(t, set)
		defer p.stop()
		test(p)
	}, "fast,deltafifo=inorder", "fast,deltafifo=textbook", "fast,informer=textbook")
}

func newPipeline(t *testing.T, set gears.Set) *pipeline {
	p := &pipeline{t: t, source: informertest.NewNamespaceSource(), ended: make(chan struct{})}
	var err error
	p.recorder, err = trace.Start(trace.Config{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.gates = cancel, gate.New(ctx, p.recorder)
	chosen := gears.Informer[namespace](set).WithDefaults()
	newQueue := chosen.NewQueue
	chosen.NewQueue = func(config deltafifo.Config[namespace]) informer.Queue[namespace] {
		p.queue = newQueue(config)
		return p.queue
	}
	const name = "namespaces"
	count := &informer.Trace{Distributed: func(informer.EventInfo, int) { p.distributed.Add(1) }}
	plain := informer.Config[namespace]{
		Name: name, Gears: chosen, Trace: informer.JoinTraces(p.recorder.Informer(name), count),
		QueueTrace: trace.FIFO[namespace](p.recorder, name), StoreTrace: p.recorder.Store(name),
	}
	source, config := gate.HoldInformer(p.gates, informer.ListerWatcher[namespace](p.source), plain)
	p.SharedIndexInformer = informer.NewSharedIndexInformer(source, config)
	p.handled, err = p.AddEventHandler(p.handler())
	require.NoError(t, err)
	p.source.Add(informertest.Namespace("old"))
	go func() {
		defer close(p.ended)
		_ = p.Run(ctx)
	}()
	require.Equal(t, []string{"add old"}, p.took())
	return p
}

func (p *pipeline) handler() informer.ResourceEventHandlerFuncs[namespace] {
	call := func(text string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls = append(p.calls, text)
	}
	return informer.ResourceEventHandlerFuncs[namespace]{
		AddFunc:    func(o namespace, _ bool) { call("add " + o.Name) },
		UpdateFunc: func(_, o namespace) { call("update " + o.Name) },
		DeleteFunc: func(d informer.DeletedObject[namespace]) { call("delete " + d.Key) },
	}
}

// took returns the calls since the last time, when everything is at rest.
func (p *pipeline) took() (calls []string) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	calls, p.calls = p.calls, nil
	return calls
}

// stop ends the informer. No time may pass for that.
func (p *pipeline) stop() {
	p.t.Helper()
	answers(p.t, "the informer stops", func() { p.cancel(); <-p.ended })
	p.recorder.Stop("over")
}

// answers fails the test unless f returns without the passing of time.
func answers(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	synctest.Wait()
	select {
	case <-done:
	default:
		t.Fatal("not while items wait: " + what)
	}
}

// keys returns the keys of the items that wait.
func keys(gates *gate.Gates, id gate.ID) (keys []string) {
	for _, item := range gates.Waiting(id) {
		keys = append(keys, item.Key)
	}
	return keys
}

// await blocks until an item waits at a gate.
func await(ctx context.Context, gates *gate.Gates, id gate.ID) error {
	for len(gates.Waiting(id)) == 0 {
		if err := wait.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func condition(t *testing.T, text string) gate.Condition {
	t.Helper()
	c, err := gate.ParseCondition(text)
	require.NoError(t, err)
	return c
}

// pipelineGates are the gates between the server and a handler.
var pipelineGates = []gate.ID{gate.G1, gate.G2, gate.G3, gate.G4}

func TestGatesOfAnInformer(t *testing.T) {
	for _, id := range pipelineGates {
		t.Run(string(id), func(t *testing.T) {
			inPipeline(t, func(p *pipeline) {
				p.gates.Close(id, gate.Condition{})
				p.source.Add(informertest.Namespace("a"))
				p.source.Add(informertest.Namespace("b"))
				p.source.Delete("old")
				assert.Empty(p.t, p.took())
				assert.Equal(p.t, []string{"a"}, keys(p.gates, id), "the first waits, and the rest behind it")
				_, stored := p.GetIndexer().GetByKey("a")
				assert.Equal(p.t, id == gate.G3 || id == gate.G4, stored)
				assert.Equal(p.t, []string{"a"}, p.recorder.State().Lab.Held[string(id)])

				item, ok := p.gates.Step(id)
				assert.True(p.t, ok)
				assert.Equal(p.t, "a", item.Key)
				assert.Equal(p.t, "namespaces", item.Resource)
				assert.Equal(p.t, []string{"add a"}, p.took())
				assert.Equal(p.t, []string{"b"}, keys(p.gates, id), "one step is one item")

				p.gates.RunTo(condition(p.t, "key==old && gate=="+string(id)))
				assert.Equal(p.t, []string{"add b"}, p.took())
				assert.Equal(p.t, []string{"old"}, keys(p.gates, id))

				p.gates.Release()
				assert.Equal(p.t, []string{"delete old"}, p.took())
				p.source.Add(informertest.Namespace("c"))
				assert.Equal(p.t, []string{"add c"}, p.took(), "the gates are open")
				assert.Empty(p.t, p.recorder.State().Lab.Held)
			})
		})
	}
}

// A condition on deltas knows a tombstone, as the page shows it.
func TestGatesHoldATombstoneAtG2(t *testing.T) {
	forms(t, func(t *testing.T, set gears.Set) {
		p := newPipeline(t, set)
		defer p.stop()
		p.gates.Close(gate.G2, gate.Condition{})
		p.source.Add(informertest.Namespace("a"))
		p.took()
		require.Equal(t, []string{"a"}, keys(p.gates, gate.G2))
		p.source.Delete("a")
		p.took()
		require.NoError(t, p.queue.Replace(nil, "9"))
		p.gates.RunTo(condition(t, "deltas~†"))
		p.took()
		assert.Equal(t, []gate.Item{{Gate: gate.G2, Key: "old", Resource: "namespaces", Deltas: "†"}},
			p.gates.Waiting(gate.G2))
		p.gates.Release()
	})
}

// While an item waits, no lock of a gear is held.
func TestGatesHoldNoLockOfAnInformer(t *testing.T) {
	for _, id := range pipelineGates {
		t.Run(string(id), func(t *testing.T) {
			inPipeline(t, func(p *pipeline) {
				p.gates.Close(id, gate.Condition{})
				p.source.Add(informertest.Namespace("a"))
				require.Empty(p.t, p.took())
				require.Equal(p.t, []string{"a"}, keys(p.gates, id))
				answers(p.t, "DeltaFIFO.Add", func() { assert.NoError(p.t, p.queue.Add(informertest.Namespace("b"))) })
				answers(p.t, "DeltaFIFO.Resync", func() { assert.NoError(p.t, p.queue.Resync()) })
				answers(p.t, "DeltaFIFO.Replace", func() {
					assert.NoError(p.t, p.queue.Replace([]namespace{informertest.Namespace("a")}, "9"))
				})
				answers(p.t, "Snapshot of the informer", func() { p.Snapshot() })
				answers(p.t, "Snapshot of the queue", func() { p.QueueSnapshot() })
				answers(p.t, "Snapshot of the store", func() { p.StoreSnapshot() })
				answers(p.t, "AddEventHandler", func() {
					_, err := p.AddEventHandler(informer.ResourceEventHandlerFuncs[namespace]{})
					assert.NoError(p.t, err)
				})
				// The informer stops with the item at its gate, see inPipeline.
			})
		})
	}
}

// What is stored and not distributed has its effect in the initial content of a new handler.
func TestGatesDoNotDoubleEventsForANewHandler(t *testing.T) {
	inPipeline(t, func(p *pipeline) {
		p.gates.Close(gate.G3, gate.Condition{})
		p.source.Add(informertest.Namespace("a"))
		require.Empty(p.t, p.took())
		late := &pipeline{t: p.t}
		registration, err := p.AddEventHandler(late.handler())
		require.NoError(p.t, err)
		assert.ElementsMatch(p.t, []string{"add a", "add old"}, late.took())
		assert.Equal(p.t, []string{"add a"}, p.took(), "it goes on to the others")
		assert.Empty(p.t, keys(p.gates, gate.G3))
		assert.Empty(p.t, p.recorder.State().Lab.Held)

		p.source.Modify(informertest.Namespace("a"))
		require.Empty(p.t, p.took())
		answers(p.t, "the removal", func() { assert.NoError(p.t, p.RemoveEventHandler(registration)) })
	})
}

// The recording says distributed when it is true.
func TestGatesRecordTheDistributionBehindG3(t *testing.T) {
	inPipeline(t, func(p *pipeline) {
		before := p.distributed.Load()
		p.gates.Close(gate.G3, gate.Condition{})
		p.source.Add(informertest.Namespace("a"))
		p.took()
		assert.Equal(p.t, before, p.distributed.Load())
		p.gates.Step(gate.G3)
		p.took()
		assert.Equal(p.t, before+1, p.distributed.Load())
	})
}

// Without a handler, nothing waits to be distributed.
func TestGatesHoldNothingForHandlersThatAreGone(t *testing.T) {
	inPipeline(t, func(p *pipeline) {
		require.NoError(p.t, p.RemoveEventHandler(p.handled))
		p.took()
		p.gates.Close(gate.G3, gate.Condition{})
		p.source.Add(informertest.Namespace("a"))
		p.took()
		assert.Empty(p.t, p.gates.Waiting(gate.G3))
	})
}

// A handler has synced when it has received the initial list, also what waited at G3.
func TestGatesHoldTheEndOfTheInitialListBehindIt(t *testing.T) {
	forms(t, func(t *testing.T, set gears.Set) {
		gates := gate.New(t.Context(), nil)
		gates.Close(gate.G3, gate.Condition{})
		source := informertest.NewNamespaceSource()
		source.Add(informertest.Namespace("a"))
		held, config := gate.HoldInformer(gates, informer.ListerWatcher[namespace](source),
			informer.Config[namespace]{Name: "namespaces", Gears: gears.Informer[namespace](set)})
		made, p := informer.NewSharedIndexInformer(held, config), &pipeline{t: t, ended: make(chan struct{})}
		handled, err := made.AddEventHandler(p.handler())
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { defer close(p.ended); _ = made.Run(ctx) }()
		assert.Empty(t, p.took())
		assert.False(t, handled.HasSynced(), "the initial list waits at G3, so the handler has not synced")
		gates.Open(gate.G3)
		assert.Equal(t, []string{"add a"}, p.took())
		assert.True(t, handled.HasSynced())
		cancel()
		<-p.ended
	})
}

// A resync that is stored and not distributed goes to those that were due for it, not to those that
// the next one is for.
func TestGatesKeepAResyncForItsHandlers(t *testing.T) {
	forms(t, func(t *testing.T, set gears.Set) {
		gates := gate.New(t.Context(), nil)
		source := informertest.NewNamespaceSource()
		source.Add(informertest.Namespace("a"))
		held, config := gate.HoldInformer(gates, informer.ListerWatcher[namespace](source),
			informer.Config[namespace]{Name: "namespaces", Gears: gears.Informer[namespace](set), ResyncPeriod: time.Hour})
		made := informer.NewSharedIndexInformer(held, config)
		often, seldom := &pipeline{t: t}, &pipeline{t: t}
		for p, period := range map[*pipeline]time.Duration{often: time.Minute, seldom: 90 * time.Second} {
			_, err := made.AddEventHandlerWithOptions(p.handler(), informer.HandlerOptions{ResyncPeriod: period})
			require.NoError(t, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- made.Run(ctx) }()
		assert.Equal(t, []string{"add a"}, often.took())
		assert.Equal(t, []string{"add a"}, seldom.took())
		gates.Close(gate.G3, gate.Condition{})
		time.Sleep(time.Minute + time.Second)
		assert.Empty(t, often.took())
		time.Sleep(time.Minute) // now the other handler is due, too
		gates.Open(gate.G3)
		assert.Equal(t, []string{"update a"}, often.took())
		assert.Empty(t, seldom.took())
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"update a"}, seldom.took(), "its resync is only late")
		cancel()
		assert.NoError(t, <-ended)
	})
}

// Initial events, bookmarks and the end of a watch pass G1.
func TestGatesHoldOnlyChangesAtG1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := informertest.NewNamespaceSource()
		source.Add(informertest.Namespace("old"))
		source.SetStreamingList(informertest.StreamingSupported)
		gates := gate.New(t.Context(), nil)
		gates.Close(gate.G1, gate.Condition{})
		held, _ := gate.HoldInformer(gates, informer.ListerWatcher[namespace](source),
			informer.Config[namespace]{Name: "namespaces"})
		w, err := held.Watch(t.Context(), api.ListOptions{SendInitialEvents: true, ResourceVersionMatch: api.MatchNotOlderThan, AllowWatchBookmarks: true})
		require.NoError(t, err)
		next := func() (e api.WatchEvent[namespace]) {
			answers(t, "Next", func() { e, err = w.Next() })
			require.NoError(t, err)
			return e
		}
		assert.Equal(t, api.WatchAdded, next().Type, "an initial event")
		assert.True(t, next().InitialEventsEnd)
		source.SendBookmark()
		assert.Equal(t, api.WatchBookmark, next().Type)
		source.Modify(informertest.Namespace("old"))
		ended := make(chan struct{})
		go func() { defer close(ended); _, _ = w.Next() }()
		synctest.Wait()
		require.Equal(t, []string{"old"}, keys(gates, gate.G1))
		assert.Equal(t, "MODIFIED", gates.Waiting(gate.G1)[0].Event)
		w.Stop()
		<-ended
		assert.Empty(t, gates.Waiting(gate.G1))
	})
}
