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
					gears, processor := checked(forms[name].gears)
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

// TestKubernetes98657AndClientGo1167RemovedHandlersLeaveNothing: handlers can be removed, and
// their goroutines end then, not with the informer.
func TestKubernetes98657AndClientGo1167RemovedHandlersLeaveNothing(t *testing.T) {
	for _, gears := range sets {
		inBubble(t, config{Gears: gears}, func(n *namespaces) {
			n.source.Add(namespace("a"))
			n.start()
			for range 100 {
				r := n.register(&log{})
				require.NoError(t, n.RemoveEventHandler(r))
				<-r.Ended()
			}
			assert.Empty(t, n.Snapshot().Handlers)
		})
	}
}

// TestClientGo1312FirstResyncIsDelivered: a resync is delivered although the resource version is
// the same.
func TestClientGo1312FirstResyncIsDelivered(t *testing.T) {
	inEachBubble(t, config{ResyncPeriod: 20 * time.Minute}, func(n *namespaces) {
		h := n.handler()
		n.start()
		n.add("a")
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		assert.Equal(t, &log{"add a", "update a"}, h)
	})
}

// checks is a processor that records the checks for a resync.
type checks struct {
	informer.Processor[head]

	mu  sync.Mutex // guards the fields below
	at  []time.Time
	due []bool // whether a handler was due
}

func (c *checks) ShouldResync(now time.Time) (due int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	due = c.Processor.ShouldResync(now)
	c.at, c.due = append(c.at, now), append(c.due, due > 0)
	return due
}

// checked returns the gears with a processor that records its checks.
func checked(gears informer.Gears[head]) (informer.Gears[head], *checks) {
	c := &checks{Processor: gears.WithDefaults().NewProcessor()}
	gears.NewProcessor = func() informer.Processor[head] { return c }
	return gears, c
}

// TestResyncsOnARealClock: each check at least nine tenths of a period after the last resync brings
// one. The test judges the checks that were made, at the time that they were made: a busy machine
// makes them late, which breaks nothing. Many informers see more jitter in less time.
func TestResyncsOnARealClock(t *testing.T) {
	const period, informers, resyncs = time.Second, 20, 3
	type run struct {
		form   string
		checks *checks
		began  time.Time // when the handler had been added
	}
	runs := make(chan run, informers)
	for i := range informers {
		form := []string{"textbook", "fast"}[i%2]
		go func() {
			gears, checks := checked(forms[form].gears)
			source := informertest.NewContractSource()
			obj := &api.PartialObjectMetadata{}
			obj.Name = "a"
			source.Add(obj)
			inf := informer.NewSharedIndexInformer(source, informer.Config[head]{ResyncPeriod: period, Gears: gears})
			ctx, cancel := context.WithCancel(t.Context())
			updates := 0
			_, err := inf.AddEventHandler(informer.ResourceEventHandlerFuncs[head]{UpdateFunc: func(_, _ head) {
				if updates++; updates == resyncs {
					cancel()
				}
			}})
			began := time.Now()
			assert.NoError(t, err)
			assert.NoError(t, inf.Run(ctx))
			runs <- run{form, checks, began}
		}()
	}
	for range informers {
		run := <-runs
		last := run.began
		for i, at := range run.checks.at {
			since := at.Sub(last)
			want := since >= period*9/10
			assert.Equal(t, want, run.checks.due[i], "%s: a check %v after the last resync brings one", run.form, since)
			if run.checks.due[i] {
				last = at
			}
		}
	}
}
