package informer_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// stream is a ListerWatcher that lists objects and then delivers updates of them in turn, as fast
// as they are read. It does not allocate.
type stream struct {
	versions [2][]head // each object in two versions
	updates  chan int  // how many updates to deliver
	spread   int       // over how many of the objects
}

func newStream(objects, spread int) *stream {
	s := &stream{updates: make(chan int), spread: spread}
	for v := range s.versions {
		for i := range objects {
			obj := &api.PartialObjectMetadata{}
			obj.Namespace, obj.Name = "ns", "pod-"+strconv.Itoa(i)
			obj.ResourceVersion = "v" + strconv.Itoa(v+1) // not a number, which would be stale the second time
			s.versions[v] = append(s.versions[v], obj)
		}
	}
	return s
}

func (s *stream) IsWatchListSemanticsUnSupported() bool { return true }

func (s *stream) List(context.Context, api.ListOptions) (*api.List[head], error) {
	list := &api.List[head]{Items: s.versions[0]}
	list.ResourceVersion = "1"
	return list, nil
}

func (s *stream) Watch(ctx context.Context, _ api.ListOptions) (api.Watcher[head], error) {
	return &streamWatcher{stream: s, ctx: ctx}, nil
}

type streamWatcher struct {
	*stream
	ctx  context.Context
	left int
	sent int
}

func (w *streamWatcher) Next() (api.WatchEvent[head], error) {
	for w.left == 0 {
		select {
		case w.left = <-w.updates:
		case <-w.ctx.Done():
			return api.WatchEvent[head]{}, w.ctx.Err()
		}
	}
	w.left--
	obj := w.versions[(w.sent/w.spread+1)%2][w.sent%w.spread]
	w.sent++
	return api.WatchEvent[head]{Type: api.WatchModified, Object: obj, ResourceVersion: obj.ResourceVersion}, nil
}

func (w *streamWatcher) Stop() {}

// dispatch is an informer of a stream with counting handlers.
type dispatch struct {
	stream *stream
	seen   atomic.Int64
	want   atomic.Int64
	done   chan struct{}
}

func startDispatch(tb testing.TB, cfg informer.Config[head], handlers, spread int) *dispatch {
	d := &dispatch{stream: newStream(10_000, spread), done: make(chan struct{})}
	inf := informer.NewSharedIndexInformer(d.stream, cfg)
	for range handlers {
		_, err := inf.AddEventHandler(informer.ResourceEventHandlerFuncs[head]{UpdateFunc: func(head, head) {
			if d.seen.Add(1) == d.want.Load() {
				d.done <- struct{}{}
			}
		}})
		require.NoError(tb, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = inf.Run(ctx) })
	tb.Cleanup(func() {
		cancel()
		running.Wait()
	})
	<-inf.Synced()
	return d
}

// send delivers n updates and waits until every handler has received all of them.
func (d *dispatch) send(n, handlers int) {
	d.want.Add(int64(n * handlers))
	d.stream.updates <- n
	<-d.done
}

// TestDispatchAllocations: from the watch to the callback, an event of a known object costs the
// queue entry and the store's atomic box. Notifications, keys, listeners and nil hooks cost
// nothing.
func TestDispatchAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("allocations are counted without the race detector")
	}
	const events = 2000
	for name, cfg := range map[string]informer.Config[head]{
		"no trace": {}, "no hooks": {Trace: &informer.Trace{}},
		"watchdog": {Trace: &informer.Trace{HandlerStuck: func(informer.StuckHandler) {}}},
		"a hook for the events of the watch": {Reflector: reflector.Config[head]{
			Trace: &reflector.Trace{Event: func(reflector.EventInfo) {}}}},
	} {
		cfg.Gears = fast.Gears[head]()
		for _, handlers := range []int{1, 16} {
			d := startDispatch(t, cfg, handlers, 10_000)
			d.send(20_000, handlers) // all objects and buffers exist now
			allocs := testing.AllocsPerRun(10, func() { d.send(events, handlers) })
			// Buffers may grow a little when the scheduler lets a goroutine fall behind.
			assert.LessOrEqual(t, allocs/events, 2.1, "%s, %d handlers", name, handlers)
		}
	}
}
