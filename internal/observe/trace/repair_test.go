package trace_test

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/internal/gears"
	"orrery/internal/observe/trace"
	"orrery/queue"
	"orrery/restclient/api"
)

// startTiny is start with a recorder whose buffer holds one event: in a bubble, a burst loses all
// but its first event.
func startTiny(t *testing.T) (r *trace.Recorder, check func() *trace.Report) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.jsonl")
	r, err := trace.StartSmall(trace.Config{File: file}, 1)
	require.NoError(t, err)
	return r, func() *trace.Report {
		t.Helper()
		r.Stop("done")
		require.NoError(t, r.Err())
		return checkFile(t, file)
	}
}

// After lost events, a queue whose snapshots the recorder may read is shown as it is. The events
// count once, in trace.lost and in the order's gap.
func TestQueueIsRepaired(t *testing.T) {
	for name, set := range sets(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, check := startTiny(t)
				q := set.NewQueue(nil, queue.Config[string]{Trace: r.Queue("keys")})
				r.RepairQueue("keys", q.Snapshot)
				for n := range 20 {
					q.Add(strconv.Itoa(n))
				}
				same := func(lost int) {
					t.Helper()
					synctest.Wait()
					state, snapshot := r.State(), q.Snapshot()
					folded := state.Queues["keys"]
					assert.Equal(t, map[string]uint64{"queue": uint64(lost)}, state.Lost)
					assert.Empty(t, state.Unsure)
					assert.Equal(t, snapshot.Queued, append([]string(nil), folded.Queue...))
					assert.EqualValues(t, len(snapshot.Queued), folded.Total)
					assert.Len(t, folded.Processing, len(snapshot.Processing))
					for _, p := range snapshot.Processing {
						require.NotNil(t, folded.Processing[p.Key], p.Key)
						assert.Equal(t, p.Dirty, folded.Processing[p.Key].Dirty, p.Key)
						assert.Equal(t, p.Key, folded.Slots[folded.Processing[p.Key].Slot])
					}
					assert.EqualValues(t, len(snapshot.Delayed), folded.DelayedTotal)
					for _, d := range snapshot.Delayed {
						assert.Contains(t, folded.Delayed, d.Key)
					}
					want := *folded
					want.Queue, want.Total, want.DelayedTotal = append([]string{}, snapshot.Queued...), int64(len(snapshot.Queued)), int64(len(snapshot.Delayed))
					want.Failures, want.ShuttingDown, want.Draining = map[string]int64{}, snapshot.ShuttingDown, snapshot.Draining
					assert.Equal(t, want, *folded)
				}
				same(19)
				first, _ := q.Get()
				_, _ = q.Get()
				q.Add(first)
				q.AddAfter("later", time.Hour)
				same(22)
				q.Done(first)
				same(22) // nothing is lost any more, and the order has no gap
				q.Add("more")
				q.Add("most")
				drained := make(chan struct{})
				go func() { defer close(drained); q.ShutDownWithDrain() }()
				synctest.Wait()
				require.True(t, q.Snapshot().Draining)
				same(24)
				q.ShutDown()
				<-drained
				report := check()
				assert.Empty(t, report.Problems)
				assert.Empty(t, report.State.Unsure)
			})
		})
	}
}

// A loss that the recorder has counted makes a gap in the order, which is no second one. A gap
// behind that is.
func TestEveryGapCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, check := startTiny(t)
		hooks := r.Queue("keys")
		lost := func(want uint64) {
			t.Helper()
			time.Sleep(time.Minute)
			assert.Equal(t, map[string]uint64{"queue": want}, r.State().Lost)
		}
		for n := range uint64(5) {
			hooks.Added(queue.Event[string]{Key: strconv.FormatUint(n, 10), Seq: n + 1})
		}
		lost(4)
		hooks.Added(queue.Event[string]{Key: "6", Seq: 6})
		lost(4)
		hooks.Added(queue.Event[string]{Key: "9", Seq: 9})
		lost(6)
		assert.Empty(t, check().Problems)
	})
}

// A gap costs no more than the events around it, however many are missing: the numbers in it are
// not looked for one by one.
func TestHugeGapIsPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := trace.Start(trace.Config{})
		require.NoError(t, err)
		hooks := r.Queue("keys")
		const missing = 1 << 50
		hooks.Added(queue.Event[string]{Key: "first", Seq: 1})
		hooks.Added(queue.Event[string]{Key: "last", Seq: missing + 4})
		hooks.Added(queue.Event[string]{Key: "third", Seq: 3})
		hooks.Added(queue.Event[string]{Key: "second", Seq: 2})
		r.Stop("")
		state := r.State()
		assert.Equal(t, []string{"first", "second", "third", "last"}, state.Queues["keys"].Queue)
		assert.Equal(t, map[string]uint64{"queue": missing}, state.Lost)
	})
}

// Without snapshots the content stays uncertain, also after a later trace.state.
func TestWithoutSnapshotsTheContentStaysUncertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, check := startTiny(t)
		q := queue.NewRateLimiting(nil, queue.Config[string]{Trace: r.Queue("keys")})
		for n := range 20 {
			q.Add(strconv.Itoa(n))
		}
		time.Sleep(2 * time.Minute)
		q.Add("later")
		time.Sleep(2 * time.Minute)
		assert.Equal(t, map[string]bool{"queue": true}, r.State().Unsure)
		assert.Equal(t, map[string]uint64{"queue": 19}, r.State().Lost, "the gap in the order is not a second loss")
		assert.Greater(t, r.State().Events["trace"], uint64(2), "there was another trace.state")
		q.ShutDown()
		report := check()
		assert.Empty(t, report.Problems)
		assert.Equal(t, map[string]bool{"queue": true}, report.State.Unsure)
	})
}

// An informer is repaired when it is at rest; its listeners not before their handlers have nothing
// left to do.
func TestInformerIsRepaired(t *testing.T) {
	for name, set := range sets(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const name = "namespaces"
				r, check := startTiny(t)
				source := informertest.NewNamespaceSource()
				made := informer.NewSharedIndexInformer(source, informer.Config[*api.Namespace]{
					Name: name, Gears: gears.Informer[*api.Namespace](set),
					Reflector:  reflector.Config[*api.Namespace]{Trace: r.Reflector(name)},
					QueueTrace: trace.FIFO[*api.Namespace](r, name), StoreTrace: r.Store(name), Trace: r.Informer(name),
				})
				r.RepairInformer(name, made)
				_, err := made.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*api.Namespace]{
					AddFunc: func(*api.Namespace, bool) { time.Sleep(time.Minute) },
				}, informer.HandlerOptions{Name: "slow"})
				require.NoError(t, err)
				for n := range 5 {
					source.Add(informertest.Namespace(strconv.Itoa(n)))
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- made.Run(ctx) }()

				time.Sleep(10 * time.Second)
				state := r.State()
				assert.Positive(t, state.Lost["deltafifo"])
				assert.Equal(t, map[string]bool{"informer": true}, state.Unsure, "four events wait for the handler")
				i := state.Informers[name]
				assert.Equal(t, map[string]string{"0": "", "1": "", "2": "", "3": "", "4": ""}, i.Store.Objects)
				assert.EqualValues(t, 5, i.Store.Total)
				assert.Empty(t, i.FIFO.Slots)
				assert.Zero(t, i.FIFO.Total)
				assert.Nil(t, i.FIFO.InFlight)
				assert.True(t, i.FIFO.Synced)
				assert.False(t, i.FIFO.Closed)
				assert.Equal(t, "Watching", i.Reflector.Phase)
				assert.Equal(t, made.Snapshot().Reflector.ResourceVersion, i.Reflector.Position)

				time.Sleep(10 * time.Minute)
				state = r.State()
				assert.Empty(t, state.Unsure)
				handlers := made.Snapshot().Handlers
				require.Len(t, handlers, 1)
				folded := state.Informers[name].Handlers["slow#"+strconv.FormatUint(handlers[0].ID, 10)]
				require.NotNil(t, folded)
				assert.EqualValues(t, 5, folded.Handled)
				want := *folded
				want.Pending, want.Peak, want.Handled, want.Merged, want.Panics, want.Synced = 0, int64(handlers[0].PeakPending), handlers[0].Handled, handlers[0].Merged, handlers[0].Panics, true
				want.Key, want.Kind, want.Number, want.CallAt, want.Stuck = "", "", 0, 0, 0
				assert.Equal(t, want, *folded)
				assert.Equal(t, "synced", state.Informers[name].Phase)
				cancel()
				require.NoError(t, <-ended)
				report := check()
				assert.Empty(t, report.Problems)
			})
		})
	}
}
