package informer_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/restclient/api"
	"orrery/wait"
)

// reports collects the calls of HandlerStuck.
type reports struct {
	mu  sync.Mutex
	all []informer.StuckHandler
}

func (r *reports) add(s informer.StuckHandler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, s)
}

func (r *reports) take() []informer.StuckHandler {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

const stuckObjects = 20

// A handler blocks on one object for an hour, while 20 objects change 100 times a minute in
// total.
func TestAHandlerThatBlocksForAnHour(t *testing.T) {
	tests := map[string]struct {
		gears   informer.Gears[*api.Namespace]
		options informer.HandlerOptions
		pending int // maximum backlog of the blocked handler
	}{
		// Each change of the hour waits, as in client-go: see HandlerOptions.Coalescing.
		"textbook":        {informer.Gears[*api.Namespace]{}, informer.HandlerOptions{}, 7000},
		"fast, unlimited": {fastGears, informer.HandlerOptions{}, 7000},
		"coalescing":      {fastGears, informer.HandlerOptions{Coalescing: true}, stuckObjects + 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var reported reports
			inBubble(t, config{Gears: test.gears, Trace: &informer.Trace{HandlerStuck: reported.add}},
				func(n *namespaces) {
					release := make(chan struct{})
					test.options.Name = "hangs"
					_, err := n.AddEventHandlerWithOptions(onAdd(func(obj *api.Namespace) {
						if obj.Name == "ns-0" {
							<-release
						}
					}), test.options)
					require.NoError(t, err)
					other := n.handler()
					n.start()
					time.Sleep(time.Second)
					for i := range stuckObjects {
						n.add(fmt.Sprintf("ns-%d", i))
					}
					peak := n.changeForAnHour()
					assert.Len(t, *other, stuckObjects+6000, "no other handler has missed an event")
					assert.LessOrEqual(t, peak, test.pending)
					assertStuckFor(t, reported.take(), peak)

					close(release)
					synctest.Wait()
					assert.Zero(t, n.Snapshot().Handlers[0].Pending)
					time.Sleep(time.Hour)
					assert.Empty(t, reported.take(), "it is not stuck any more")
					require.NoError(t, n.stop())
				})
		})
	}
}

// changeForAnHour changes 100 objects a minute and returns the largest backlog of the first
// handler.
func (n *namespaces) changeForAnHour() (peak int) {
	for i := range 6000 {
		time.Sleep(600 * time.Millisecond)
		n.modify(fmt.Sprintf("ns-%d", i%stuckObjects))
		if i%100 == 0 {
			peak = max(peak, n.Snapshot().Handlers[0].Pending)
		}
	}
	return max(peak, n.Snapshot().Handlers[0].Pending)
}

// assertStuckFor asserts that the handler, the event, the time and the backlog were reported, at
// each doubling.
func assertStuckFor(t *testing.T, reported []informer.StuckHandler, peak int) {
	t.Helper()
	var running []time.Duration
	for _, s := range reported {
		assert.Equal(t, "hangs", s.Handler)
		assert.Equal(t, "namespaces", s.Informer)
		assert.Equal(t, informer.EventAdd, s.Event)
		assert.Equal(t, "ns-0", s.Key)
		assert.Positive(t, s.Pending)
		assert.LessOrEqual(t, s.Pending, max(peak, 101))
		running = append(running, s.Running)
	}
	minutes := func(n time.Duration) time.Duration { return n * time.Minute }
	assert.Equal(t, []time.Duration{minutes(1), minutes(2), minutes(4), minutes(8), minutes(16), minutes(32)}, running)
}

// A slow handler that returns is not stuck.
func TestASlowHandlerIsNotStuck(t *testing.T) {
	var reported reports
	inEachBubble(t, config{Trace: &informer.Trace{HandlerStuck: reported.add}}, func(n *namespaces) {
		n.register(onAdd(func(*api.Namespace) { time.Sleep(59 * time.Second) }))
		n.start()
		for i := range 100 {
			n.source.Add(namespace(fmt.Sprint("ns-", i)))
		}
		time.Sleep(2 * time.Hour)
		assert.Empty(t, reported.take())
		assert.Zero(t, n.Snapshot().Handlers[0].Pending)
	})
}

// A removed handler, or one of a stopping informer, is reported all the same.
func TestAStuckHandlerIsReportedAfterItsRemoval(t *testing.T) {
	for name, end := range map[string]func(n *namespaces, r *informer.Registration){
		"removed":  func(n *namespaces, r *informer.Registration) { require.NoError(n.t, n.RemoveEventHandler(r)) },
		"informer": func(n *namespaces, _ *informer.Registration) { n.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			var reported reports
			inEachBubble(t, config{Trace: &informer.Trace{HandlerStuck: reported.add}}, func(n *namespaces) {
				stuck := make(chan struct{})
				release := sync.OnceFunc(func() { close(stuck) })
				r := n.register(onAdd(func(*api.Namespace) { <-stuck }))
				n.start()
				defer release() // the informer waits for the handler, also after a failure
				n.add("a")
				time.Sleep(20 * time.Second)
				end(n, r)
				time.Sleep(5 * time.Minute)
				all := reported.take()
				require.Len(n.t, all, 3, "after one, two and four minutes")
				assert.Equal(n.t, "a", all[2].Key)
				release()
				<-r.Ended()
				time.Sleep(time.Hour)
				assert.Empty(t, reported.take())
			})
		})
	}
}

// Without the hook there is neither goroutine nor timer; with it, the informer ends them.
func TestStuckHandlerReportsEndWithTheInformer(t *testing.T) {
	inEachBubble(t,
		config{Trace: &informer.Trace{HandlerStuck: func(informer.StuckHandler) { panic("a fault in a hook") }}},
		func(n *namespaces) {
			defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
			release := make(chan struct{})
			h := n.register(onAdd(func(*api.Namespace) { <-release }))
			n.start()
			n.add("a")
			time.Sleep(10 * time.Minute) // the hook has panicked several times, and the informer continues
			n.add("b")
			assert.Len(t, n.GetIndexer().List(), 2)
			close(release)
			synctest.Wait()
			assert.True(t, h.HasSynced())
			require.NoError(t, n.stop()) // the bubble fails if anything is left
		})
}

// A handler that panics at each event costs no other handler an event, with any delivery.
func TestAHandlerThatPanicsForEver(t *testing.T) {
	for name, gears := range sets {
		t.Run(name, func(t *testing.T) {
			defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
			var mu sync.Mutex
			var panicked []string
			trace := &informer.Trace{HandlerPanicked: func(h informer.HandlerInfo, kind informer.EventKind, key string,
				value any) {
				mu.Lock()
				defer mu.Unlock()
				panicked = append(panicked, fmt.Sprint(h.Handler, " ", kind, " ", key, ": ", value))
			}}
			inBubble(t, config{Gears: gears, Trace: trace}, func(n *namespaces) {
				fault := func() { panic("a fault") }
				_, err := n.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*api.Namespace]{
					AddFunc:    func(*api.Namespace, bool) { fault() },
					UpdateFunc: func(_, _ *api.Namespace) { fault() },
					DeleteFunc: func(informer.DeletedObject[*api.Namespace]) { fault() },
				}, informer.HandlerOptions{Name: "bad"})
				require.NoError(t, err)
				good := n.handler()
				n.start()
				n.add("a")
				n.modify("a")
				n.delete("a")
				n.add("b")
				want := []string{"add a", "update a", "delete a", "add b"}
				assert.Equal(t, log(want), *good)
				for i := range want {
					want[i] = "bad " + want[i] + ": a fault"
				}
				mu.Lock()
				assert.Equal(t, want, slices.Clone(panicked))
				mu.Unlock()
				s := n.Snapshot().Handlers[0]
				assert.EqualValues(t, 4, s.Panics)
				assert.Zero(t, s.Pending)
				assert.True(t, s.HasSynced)
			})
		})
	}
}

// stuck is a handler that blocks in its first callback until it is released.
func stuck(release <-chan struct{}, l *log) informer.ResourceEventHandler[*api.Namespace] {
	return informer.ResourceEventHandlerFuncs[*api.Namespace]{
		AddFunc: func(obj *api.Namespace, initial bool) {
			<-release
			l.OnAdd(obj, initial)
		},
		UpdateFunc: l.OnUpdate,
		DeleteFunc: l.OnDelete,
	}
}

// TestClientGo1326BacklogThatIsBounded: in client-go the backlog of a stuck handler keeps every
// state of every object. Here a handler may choose to receive only the newest. One informer has a
// handler of each kind.
func TestClientGo1326BacklogThatIsBounded(t *testing.T) {
	inBubble(t, config{Gears: fastGears}, func(n *namespaces) {
		release := make(chan struct{})
		logs := make([]log, 2)
		for i, opts := range []informer.HandlerOptions{{}, {Coalescing: true}} {
			_, err := n.AddEventHandlerWithOptions(stuck(release, &logs[i]), opts)
			require.NoError(t, err)
		}
		n.start()
		n.add("a")
		for range 5 {
			n.modify("a")
		}
		n.delete("a")
		n.add("b")
		h := n.Snapshot().Handlers
		assert.Equal(t, 8, h[0].Pending)
		assert.Equal(t, 3, h[1].Pending)
		assert.EqualValues(t, 5, h[1].Merged, "four updates into the first, and all into the deletion")
		close(release)
		synctest.Wait()
		all := log{"add a", "update a", "update a", "update a", "update a", "update a", "delete a", "add b"}
		assert.Equal(t, all, logs[0])
		assert.Equal(t, log{"add a", "delete a", "add b"}, logs[1])
		assert.Zero(t, n.Snapshot().Handlers[1].Pending)
		assert.EqualValues(t, 3, n.Snapshot().Handlers[1].Handled)
	})
}

// TestQueuedNumberIsThatOfTheLastEvent: the mark at the end of the first list and a resync that is
// not due for the handler are no events of the handler, also if they are in one batch with some.
func TestQueuedNumberIsThatOfTheLastEvent(t *testing.T) {
	type notification = informer.Notification[head]
	add := func(number uint64) notification {
		obj := &api.PartialObjectMetadata{}
		return notification{Kind: informer.EventAdd, Number: number, Key: fmt.Sprint(number), New: obj}
	}
	resync := add(9)
	resync.Kind, resync.Sync = informer.EventUpdate, true
	mark := notification{Kind: informer.EventSynced}
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		t.Run(name, func(t *testing.T) {
			for _, batch := range [][]notification{
				{add(7), mark}, {mark, add(7)}, {add(6), mark, add(7), mark}, {add(7), resync, mark},
			} {
				synctest.Test(t, func(t *testing.T) {
					gears, processor := checked(forms[name].gears, nil)
					var number uint64
					trace := &informer.Trace{HandlerQueued: func(_ informer.HandlerInfo, q informer.QueuedInfo) {
						number = max(number, q.Number)
						assert.Equal(t, q.Count == 0, q.Number == 0, "%d events have the number %d", q.Count, q.Number)
					}}
					inf := informer.NewSharedIndexInformer(nil, informer.Config[head]{Gears: gears, Trace: trace})
					_, err := inf.AddEventHandler(eventHandler(func(informertest.Event) {}))
					require.NoError(t, err)
					ctx, cancel := context.WithCancel(t.Context())
					var running sync.WaitGroup
					running.Go(func() { processor.Run(ctx) })
					defer running.Wait()
					defer cancel()
					synctest.Wait()
					for _, n := range batch {
						processor.Distribute(n)
					}
					processor.Flush()
					synctest.Wait()
					assert.EqualValues(t, 7, number, "the number of the last event")
				})
			}
		})
	}
}
