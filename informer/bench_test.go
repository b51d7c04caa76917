package informer_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/internal/observe/trace"
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

// BenchmarkDispatch measures one event from the watch to the callbacks of all handlers:
// reflector, queue, store, processor, listeners.
func BenchmarkDispatch(b *testing.B) {
	for name, gears := range map[string]informer.Gears[head]{"fast": fast.Gears[head](), "textbook": {}} {
		for _, handlers := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("%s/handlers=%d", name, handlers), func(b *testing.B) {
				d := startDispatch(b, informer.Config[head]{Gears: gears}, handlers, 10_000)
				d.send(20_000, handlers)
				runtime.GC()
				b.ReportAllocs()
				b.ResetTimer()
				d.send(b.N, handlers)
			})
		}
	}
}

// BenchmarkDispatchTraced is BenchmarkDispatch with one handler, alone and with a recorder of every
// hook of the informer, as "orrery run --view" has it.
func BenchmarkDispatchTraced(b *testing.B) {
	for name, gears := range map[string]informer.Gears[head]{"fast": fast.Gears[head](), "textbook": {}} {
		for _, traced := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/traced=%v", name, traced), func(b *testing.B) {
				config := informer.Config[head]{Gears: gears}
				if traced {
					r, err := trace.Start(trace.Config{})
					require.NoError(b, err)
					defer r.Stop("")
					config.Reflector.Trace, config.QueueTrace, config.StoreTrace, config.Trace = r.Reflector("pods"), trace.FIFO[head](r, "pods"), r.Store("pods"), r.Informer("pods")
				}
				d := startDispatch(b, config, 1, 10_000)
				d.send(20_000, 1)
				runtime.GC()
				b.ReportAllocs()
				b.ResetTimer()
				d.send(b.N, 1)
				b.StopTimer() // before the recorder writes what is left
			})
		}
	}
}

// BenchmarkDispatchSpread measures updates that concentrate on few objects.
func BenchmarkDispatchSpread(b *testing.B) {
	for _, spread := range []int{1, 10, 1000} {
		b.Run(fmt.Sprintf("objects=%d", spread), func(b *testing.B) {
			d := startDispatch(b, informer.Config[head]{Gears: fast.Gears[head]()}, 1, spread)
			d.send(20_000, 1)
			b.ReportAllocs()
			b.ResetTimer()
			d.send(b.N, 1)
		})
	}
}

// BenchmarkDispatchIdle measures a single event in an informer whose goroutines all sleep.
func BenchmarkDispatchIdle(b *testing.B) {
	for _, handlers := range []int{1, 16} {
		b.Run(fmt.Sprintf("handlers=%d", handlers), func(b *testing.B) {
			d := startDispatch(b, informer.Config[head]{Gears: fast.Gears[head]()}, handlers, 10_000)
			b.ReportAllocs()
			for b.Loop() {
				d.send(1, handlers)
			}
		})
	}
}

// BenchmarkLateJoin measures how long adding a handler to an informer of many objects delays the
// processing of events. The handler receives the existing objects concurrently with the events.
func BenchmarkLateJoin(b *testing.B) {
	for _, objects := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			inf := informer.NewSharedIndexInformer(newStream(objects, objects), informer.Config[head]{})
			defer run(inf)()
			b.ReportAllocs()
			for b.Loop() {
				r, err := inf.AddEventHandler(informer.ResourceEventHandlerFuncs[head]{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := inf.ShutDownEventHandler(b.Context(), r); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
