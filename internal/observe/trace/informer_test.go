package trace_test

import (
	"context"
	"maps"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/internal/observe/trace"
	"orrery/restclient/api"
)

// At rest the fold is what the informer's snapshots say, with every set of gears: phase, position,
// queue, store and listeners.
func TestInformerIsItsFold(t *testing.T) {
	withSets(t, func(t *testing.T, set gears.Set) {
		const name = "namespaces"
		r, check := start(t, trace.Config{})
		source := informertest.NewNamespaceSource()
		source.Add(informertest.Namespace("a"))
		source.Add(informertest.Namespace("b"))
		made := informer.NewSharedIndexInformer(source, informer.Config[*api.Namespace]{
			Name: name, Gears: gears.Informer[*api.Namespace](set), ResyncPeriod: time.Minute,
			Reflector:  reflector.Config[*api.Namespace]{Trace: r.Reflector(name)},
			QueueTrace: trace.FIFO[*api.Namespace](r, name), StoreTrace: r.Store(name), Trace: r.Informer(name),
		})
		slow := informer.ResourceEventHandlerFuncs[*api.Namespace]{
			UpdateFunc: func(_, _ *api.Namespace) { time.Sleep(time.Second) },
		}
		_, err := made.AddEventHandlerWithOptions(slow, informer.HandlerOptions{Name: "slow", Coalescing: true})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var ended = make(chan error)
		go func() { ended <- made.Run(ctx) }()
		same := func() {
			t.Helper()
			synctest.Wait()
			snapshot, folded := made.Snapshot(), r.State()
			i := folded.Informers[name]
			assert.Zero(t, folded.Odd)
			assert.Equal(t, snapshot.Reflector.Phase.String(), i.Reflector.Phase)
			assert.Equal(t, snapshot.Reflector.ResourceVersion, i.Reflector.Position)
			assert.EqualValues(t, snapshot.Reflector.Events, i.Reflector.Events)
			assert.Len(t, i.FIFO.Slots, len(made.QueueSnapshot().Waiting))
			assert.Nil(t, i.FIFO.InFlight)
			objects := map[string]string{}
			for key, object := range source.Objects() {
				objects[key] = object.ResourceVersion
			}
			assert.Equal(t, objects, i.Store.Objects)
			assert.EqualValues(t, snapshot.Objects, i.Store.Total)
			// A callback of one that was removed may still run.
			maps.DeleteFunc(i.Handlers, func(_ string, f *trace.HandlerState) bool { return f.Removed })
			assert.Len(t, i.Handlers, len(snapshot.Handlers))
			for _, h := range snapshot.Handlers {
				f := i.Handlers[h.Handler+"#"+strconv.FormatUint(h.ID, 10)]
				require.NotNil(t, f, h.Handler)
				assert.EqualValues(t, h.Pending, f.Pending, h.Handler)
				assert.Equal(t, h.Handled, f.Handled, h.Handler)
				assert.Equal(t, h.Merged, f.Merged, h.Handler)
			}
		}
		same()
		for range 5 {
			source.Modify(informertest.Namespace("a"))
		}
		source.Delete("b")
		source.Add(informertest.Namespace("c"))
		same()
		late, err := made.AddEventHandlerWithOptions(slow, informer.HandlerOptions{Name: "late"})
		require.NoError(t, err)
		same()
		queued := r.State().Informers[name].FIFO.Queued
		time.Sleep(2 * time.Minute)
		same()
		assert.Greater(t, r.State().Informers[name].FIFO.Queued, queued, "the fold has met resyncs")
		require.NoError(t, made.RemoveEventHandler(late))
		same()
		cancel()
		require.NoError(t, <-ended)
		last := check()
		assert.Zero(t, last.Odd)
		i := last.Informers[name]
		assert.Equal(t, "stopped", i.Phase)
		assert.Equal(t, "Stopped", i.Reflector.Phase)
	})
}

// onlyRed are the known objects of a queue: red.
type onlyRed struct{}

func (onlyRed) ListKeys() []string                     { return []string{"red"} }
func (onlyRed) GetByKey(string) (*api.Namespace, bool) { return informertest.Namespace("red"), true }

// A slot of more deltas than it has letters knows its newest ones: two deletions are one, and the
// pop leaves nothing.
func TestALongSlotIsItsFold(t *testing.T) {
	r, check := start(t, trace.Config{})
	fifo := deltafifo.New(deltafifo.Config[*api.Namespace]{
		KeyFunc: func(o *api.Namespace) (string, error) { return o.Name, nil }, KnownObjects: onlyRed{},
		Trace: trace.FIFO[*api.Namespace](r, "namespaces"),
	})
	red := informertest.Namespace("red")
	for range 21 {
		require.NoError(t, fifo.Update(red))
	}
	require.NoError(t, fifo.Delete(red))
	require.NoError(t, fifo.Replace(nil, "9")) // the list has no red
	folded := func() trace.FIFOState { return r.State().Informers["namespaces"].FIFO }
	waiting := folded()
	assert.Equal(t, []trace.EntryState{{Key: "red", Deltas: "UUUUUUUUUUUUUUUUUUUD", N: 22}}, waiting.Waiting())
	_, err := fifo.Pop(func(_ string, deltas deltafifo.Deltas[*api.Namespace], _ bool) error {
		assert.Len(t, deltas, 22)
		assert.Equal(t, &waiting.Waiting()[0], folded().InFlight)
		return nil
	})
	require.NoError(t, err)
	assert.Empty(t, folded().Slots)
	assert.Zero(t, folded().Total)
	assert.Zero(t, check().Odd)
}
