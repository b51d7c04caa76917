package demo

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/internal/observe/trace"
	"orrery/restclient/api"
)

type namespace = *api.Namespace

// pipeline is an informer with gates in a bubble, and the calls of its one handler.
type pipeline struct {
	*informer.SharedIndexInformer[namespace]
	t        *testing.T
	gates    *Gates
	source   *informertest.FakeSource[namespace]
	recorder *trace.Recorder
	queue    informer.Queue[namespace] // without a gate
	cancel   context.CancelFunc
	ended    chan struct{}

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
	p.recorder = recorder(t)
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.gates = cancel, NewGates(ctx, p.recorder)
	chosen := gears.Informer[namespace](set).WithDefaults()
	newQueue := chosen.NewQueue
	chosen.NewQueue = func(config deltafifo.Config[namespace]) informer.Queue[namespace] {
		p.queue = newQueue(config)
		return p.queue
	}
	const name = "namespaces"
	plain := informer.Config[namespace]{
		Name: name, Gears: chosen, Trace: p.recorder.Informer(name),
		QueueTrace: trace.FIFO[namespace](p.recorder, name), StoreTrace: p.recorder.Store(name),
	}
	config := HoldInformer(p.gates, plain)
	p.SharedIndexInformer = informer.NewSharedIndexInformer(informer.ListerWatcher[namespace](p.source), config)
	_, err := p.AddEventHandler(p.handler())
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

// keys returns the keys that wait at a gate, as they are recorded.
func keys(recorder *trace.Recorder, id GateID) []string {
	return recorder.State().Lab.Held[string(id)]
}

// pipelineGates are the gates between the server and a handler.
var pipelineGates = []GateID{G2, G4}

func TestGatesOfAnInformer(t *testing.T) {
	for _, id := range pipelineGates {
		t.Run(string(id), func(t *testing.T) {
			inPipeline(t, func(p *pipeline) {
				p.gates.Close(id, Filter{Resource: "pods"})
				p.source.Add(informertest.Namespace("other"))
				assert.Equal(p.t, []string{"add other"}, p.took())
				p.gates.Close(id, Filter{Resource: "namespaces"})
				p.source.Add(informertest.Namespace("a"))
				p.source.Add(informertest.Namespace("b"))
				p.source.Delete("old")
				assert.Empty(p.t, p.took())
				assert.Equal(p.t, []string{"a"}, keys(p.recorder, id), "the first waits, and the rest behind it")
				_, stored := p.GetIndexer().GetByKey("a")
				assert.Equal(p.t, id == G4, stored)

				p.gates.Step(id)
				assert.Equal(p.t, []string{"add a"}, p.took())
				assert.Equal(p.t, []string{"b"}, keys(p.recorder, id), "one step is one item")
				p.gates.Release()
				assert.Equal(p.t, []string{"add b", "delete old"}, p.took())
				p.source.Add(informertest.Namespace("c"))
				assert.Equal(p.t, []string{"add c"}, p.took(), "the gates are open")
				assert.Empty(p.t, p.recorder.State().Lab.Held)
			})
		})
	}
}

// While an item waits, no lock of a gear is held.
func TestGatesHoldNoLockOfAnInformer(t *testing.T) {
	for _, id := range pipelineGates {
		t.Run(string(id), func(t *testing.T) {
			inPipeline(t, func(p *pipeline) {
				p.gates.Close(id, Filter{})
				p.source.Add(informertest.Namespace("a"))
				require.Empty(p.t, p.took())
				require.Equal(p.t, []string{"a"}, keys(p.recorder, id))
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
