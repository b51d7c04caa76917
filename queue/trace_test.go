package queue_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/hooks/hookstest"
	"orrery/queue"
	"orrery/queue/queuetest"
)

// diary is a trace that writes down what happens.
type diary struct {
	mu    sync.Mutex
	lines []string         // guarded by mu
	seqs  map[uint64]bool  // guarded by mu
	extra func(seq uint64) // called by each callback that has an Event
}

func (d *diary) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) event(e queue.Event[string], format string, args ...any) {
	d.write(format, args...)
	d.mu.Lock()
	if d.seqs == nil {
		d.seqs = map[uint64]bool{}
	}
	d.seqs[e.Seq] = true
	d.mu.Unlock()
	if d.extra != nil {
		d.extra(e.Seq)
	}
}

// read returns the lines since the last read.
func (d *diary) read() (lines []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines, d.lines = d.lines, nil
	return lines
}

func (d *diary) trace() *queue.Trace[string] {
	type event = queue.Event[string]
	plain := func(what string) func(event) {
		return func(e event) { d.event(e, "%s %s", what, e.Key) }
	}
	timed := func(what string) func(event, time.Duration) {
		return func(e event, t time.Duration) { d.event(e, "%s %s %v", what, e.Key, t) }
	}
	return &queue.Trace[string]{
		Added:         plain("added"),
		Coalesced:     plain("coalesced"),
		Refused:       plain("refused"),
		Held:          timed("held"),
		Delayed:       timed("delayed"),
		DelayCanceled: plain("delay canceled"),
		DelayEnded:    timed("delay ended"),
		Got:           timed("got"),
		Done:          timed("done"),
		DoneUnknown:   plain("done unknown"),
		Retried: func(key string, requeues int, wait time.Duration) {
			d.write("retried %s %d %v", key, requeues, wait)
		},
		Forgotten:    func(key string) { d.write("forgotten %s", key) },
		ShuttingDown: func(drain bool, dropped int) { d.write("shutting down %v %d", drain, dropped) },
	}
}

func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		q := queue.NewRateLimiting(queue.NewItemFastSlowRateLimiter[string](time.Second, time.Minute, 1),
			queue.Config[string]{Trace: d.trace(), HoldBackoff: true})
		expect := func(lines ...string) {
			t.Helper()
			synctest.Wait()
			assert.Equal(t, lines, d.read())
		}

		q.Add("a")
		expect("added a")
		q.Add("a")
		expect("coalesced a")
		pass(time.Second)
		q.Get()
		expect("got a 1s")
		q.Add("a")
		q.Add("a")
		expect("added a", "coalesced a")
		pass(2 * time.Second)
		q.Done("a")
		expect("done a 2s")
		q.Get()
		expect("got a 2s")
		q.Done("a")
		q.Done("a")
		expect("done a 0s", "done unknown a")

		q.AddAfter("a", 0)
		expect("delayed a 0s", "added a")
		q.AddAfter("b", 10*time.Second)
		q.AddAfter("b", 20*time.Second)
		q.AddAfter("b", 5*time.Second)
		expect("delayed b 10s", "delayed b 10s", "delayed b 5s")
		q.AddAfter("a", 5*time.Second)
		expect("delayed a 5s")
		pass(5 * time.Second)
		expect("delay ended b 0s", "added b", "delay ended a 0s", "coalesced a")

		q.AddAfter("c", time.Second)
		q.Add("c")
		expect("delayed c 1s", "delay canceled c", "added c")
		q.AddAfter("c", time.Second)
		q.AddAfter("c", 0)
		expect("delayed c 1s", "delayed c 0s", "delay canceled c", "coalesced c")
		q.AddAfter("d", time.Second)
		q.Cancel("d")
		q.Cancel("d")
		expect("delayed d 1s", "delay canceled d")

		q.AddRateLimited("e")
		q.AddRateLimited("f")
		q.AddRateLimited("f")
		expect("retried e 1 1s", "delayed e 1s", "retried f 1 1s", "delayed f 1s", "retried f 2 1m0s", "delayed f 1s")
		q.Add("e")
		q.AddAfter("e", 0)
		expect("held e 1s", "held e 1s")
		q.Forget("e")
		expect("forgotten e")

		q.ShutDown()
		expect("shutting down false 2")
		q.Add("a")
		q.AddAfter("a", time.Second)
		q.AddRateLimited("a")
		expect("refused a", "refused a", "retried a 1 1s", "refused a")
		for q.Len() > 0 {
			key, _ := q.Get()
			q.Done(key)
		}
		d.read()
		q.Get()
		q.ShutDownWithDrain()
		expect("shutting down true 0")

		last := q.Snapshot().Seq
		assert.Len(t, d.seqs, int(last), "no number is given twice, none is left out")
		assert.Contains(t, d.seqs, uint64(1))
		assert.Contains(t, d.seqs, last)
	})
}

// A callback may call the queue, because the lock is not held. If it were, this
// test would never end.
func TestCallbacksMayCallTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		q := queue.NewRateLimiting(queue.NewItemFastSlowRateLimiter[string](time.Second, time.Second, 1),
			queue.Config[string]{Trace: d.trace()})
		var calls, depth atomic.Int32
		d.extra = func(seq uint64) {
			if depth.Add(1) > 1 {
				depth.Add(-1)
				return
			}
			defer depth.Add(-1)
			calls.Add(1)
			assert.GreaterOrEqual(t, q.Snapshot().Seq, seq)
			q.Done("nobody")
			if calls.Load() <= 3 { // or the queue would never be empty
				q.Add("more")
			}
			q.AddAfter("later", time.Second)
			q.Cancel("later")
		}
		q.Add("a")
		q.AddAfter("b", time.Second)
		q.AddRateLimited("c")
		pass(2 * time.Second)
		require.ElementsMatch(t, []string{"a", "b", "c", "more"}, takeAll(q))
		q.ShutDown()
		q.Add("a")
		synctest.Wait()
		assert.Positive(t, calls.Load())
		require.NoError(t, q.Check())
	})
}

// Callbacks of different goroutines may overtake each other; Seq has the order.
func TestSeqIsTheOrder(t *testing.T) {
	var mu sync.Mutex
	events := map[uint64]string{}
	note := func(what string) func(queue.Event[string]) {
		return func(e queue.Event[string]) {
			mu.Lock()
			defer mu.Unlock()
			events[e.Seq] = what
		}
	}
	timed := func(what string) func(queue.Event[string], time.Duration) {
		f := note(what)
		return func(e queue.Event[string], d time.Duration) {
			assert.GreaterOrEqual(t, d, time.Duration(0))
			f(e)
		}
	}
	q := queue.New(queue.Config[string]{Trace: &queue.Trace[string]{
		Added: note("added"), Coalesced: note("coalesced"), Got: timed("got"), Done: timed("done"),
	}})
	var workers, producers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for {
				key, shutdown := q.Get()
				if shutdown {
					return
				}
				q.Done(key)
			}
		})
		producers.Go(func() {
			for range 2000 {
				q.Add("a")
			}
		})
	}
	producers.Wait()
	q.ShutDownWithDrain()
	workers.Wait()

	dirty, processing := false, false
	for seq := uint64(1); seq <= uint64(len(events)); seq++ {
		switch events[seq] {
		case "added":
			require.False(t, dirty, "event %d", seq)
			dirty = true
		case "coalesced":
			require.True(t, dirty, "event %d", seq)
		case "got":
			require.True(t, dirty && !processing, "event %d", seq)
			dirty, processing = false, true
		case "done":
			require.True(t, processing, "event %d", seq)
			processing = false
		default:
			require.Fail(t, "a number is missing", "event %d", seq)
		}
	}
	assert.False(t, dirty || processing)
}

func TestJoinTraces(t *testing.T) {
	hookstest.Run(t, queue.JoinTraces[string])
	assert.Nil(t, queue.JoinTraces[string]())
	assert.Nil(t, queue.JoinTraces[string](nil, nil))
	only := &queue.Trace[string]{}
	assert.Same(t, only, queue.JoinTraces(nil, only, nil))

	synctest.Test(t, func(t *testing.T) {
		first, second := &diary{}, &diary{}
		part := &queue.Trace[string]{Added: func(e queue.Event[string]) { second.event(e, "part %s", e.Key) }}
		q := queue.NewRateLimiting(queue.NewItemFastSlowRateLimiter[string](time.Second, time.Minute, 1),
			queue.Config[string]{Trace: queue.JoinTraces(first.trace(), nil, part, second.trace())})
		q.Add("a")
		q.Get()
		q.AddRateLimited("a")
		q.Forget("a")
		q.Done("a")
		q.ShutDown()
		assert.Equal(t, []string{"added a", "got a 0s", "retried a 1 1s", "delayed a 1s", "forgotten a", "done a 0s",
			"shutting down false 1"}, first.read())
		assert.Equal(t, []string{"part a", "added a", "got a 0s", "retried a 1 1s", "delayed a 1s", "forgotten a", "done a 0s",
			"shutting down false 1"}, second.read())
	})
}

// Metrics do not take the trace's place.
func TestMetricsAndTrace(t *testing.T) {
	d, m := &diary{}, queuetest.NewMetrics()
	q := queue.New(queue.Config[string]{Name: "q", Metrics: m, Trace: d.trace()})
	q.Add("a")
	assert.Equal(t, []string{"added a"}, d.read())
	assert.EqualValues(t, 1, m.Value(queue.MetricAdds))
}

func TestUpdateMetricsWithoutMetrics(t *testing.T) {
	q := queue.New(queue.Config[string]{})
	q.Add("a")
	q.UpdateMetrics()
	assert.Equal(t, 1, q.Len())
}

func TestMetricBuckets(t *testing.T) {
	buckets := queue.MetricBuckets()
	require.Len(t, buckets, 10)
	assert.Equal(t, 10e-9, buckets[0])
	for i := 1; i < len(buckets); i++ {
		assert.InEpsilon(t, 10, buckets[i]/buckets[i-1], 1e-9)
	}
}
