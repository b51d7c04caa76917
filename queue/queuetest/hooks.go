package queuetest

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/hooks"
	"orrery/queue"
)

func runHooks(t *testing.T, impl Implementation) {
	// This runs first: if a hook is called under the lock, the others may never end.
	if !t.Run("hooks are called without the lock", func(t *testing.T) { testHooksAreCalledWithoutTheLock(t, impl) }) {
		t.FailNow()
	}
	bubble(t, "each event of the queue", func(t *testing.T) { testTrace(t, impl) })
	bubble(t, "hooks may call the queue", func(t *testing.T) { testHooksMayCallTheQueue(t, impl) })
	t.Run("Seq has the order of the events", func(t *testing.T) { testSeqIsTheOrder(t, impl) })
	t.Run("metrics and hooks", func(t *testing.T) { testMetricsAndHooks(t, impl) })
}

// lockTimeout is how long a call may take that only a lock can delay.
const lockTimeout = 20 * time.Second

// testHooksAreCalledWithoutTheLock calls every hook once, in real time. Each hook makes another
// goroutine call the queue; if that blocks, the hook's caller holds the lock.
func testHooksAreCalledWithoutTheLock(t *testing.T, impl Implementation) {
	var q queue.ObservableInterface[string]
	var called sync.Map
	delayEnded := make(chan struct{}) // by the queue's own goroutine, which Get does not wait for
	look := func(hook string) {
		if _, again := called.LoadOrStore(hook, true); again || t.Failed() {
			return
		}
		if hook == "DelayEnded" {
			defer close(delayEnded)
		}
		returned := make(chan struct{})
		go func() {
			q.Len()
			close(returned)
		}()
		select {
		case <-returned:
		case <-time.After(lockTimeout):
			t.Errorf("the hook %s is called while the queue's lock is held: a hook must be able to call the queue",
				hook)
		}
	}
	trace := hooks.Observe[queue.Trace[string]](func(hook string, _ []any) { look(hook) })
	q = impl.NewObservable(nil, queue.Config[string]{Trace: trace})
	q.Add("a")
	q.Add("a")
	q.Get()
	q.Done("a")
	q.Done("a")
	q.AddAfter("a", time.Hour)
	q.Add("a")
	q.AddAfter("b", time.Millisecond)
	for range 2 { // a, and b when its delay has ended
		q.Get()
	}
	q.AddRateLimited("c")
	q.Forget("c")
	select {
	case <-delayEnded:
	case <-time.After(lockTimeout):
	}
	q.ShutDown()
	q.Add("a")
	for i := range reflect.TypeOf(*trace).NumField() {
		name := reflect.TypeOf(*trace).Field(i).Name
		_, ok := called.Load(name)
		assert.True(t, ok, "the hook %s was not called", name)
	}
}

func testTrace(t *testing.T, impl Implementation) {
	d := newDiary()
	q := impl.NewObservable(queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
		queue.Config[string]{Trace: d.trace()})
	(&player{T: t, q: q, diary: d}).play(`
		add a; heard added a
		add a; heard coalesced a
		pass 1s; get a; heard got a 1s
		add a; add a; heard added a, coalesced a
		pass 2s; done a; heard done a 2s
		get a; heard got a 2s
		done a; done a; heard done a 0s, done unknown a
		after a 0; heard delayed a 0s, added a
		after b 10s; after b 20s; after b 5s; heard delayed b 10s, delayed b 10s, delayed b 5s
		after a 5s; heard delayed a 5s
		pass 5s; heard delay ended b 0s, added b, delay ended a 0s, coalesced a
		after c 1s; add c; heard delayed c 1s, delay canceled c, added c
		after c 1s; after c 0; heard delayed c 1s, delayed c 0s, delay canceled c, coalesced c
		retry e; heard retried e 1 1s, delayed e 1s
		retry f; retry f; heard retried f 1 1s, delayed f 1s, retried f 2 2s, delayed f 1s
		add e; heard delay canceled e, added e
		forget e; heard forgotten e
		shut; heard shutting down false 1
		add a; after a 1s; retry a; heard refused a, refused a, retried a 1 1s, refused a
		get a; get b; get c; get e; heard got a 5s, got b 0s, got c 0s, got e 0s
		done a; done b; done c; done e; heard done a 0s, done b 0s, done c 0s, done e 0s
		wait; woken shutdown; drain; heard shutting down true 0`)

	last := q.Snapshot().Seq
	assert.Len(t, d.seqs, int(last), "the numbers are unique and without gaps")
	assert.Contains(t, d.seqs, uint64(1))
	assert.Contains(t, d.seqs, last)
}

// testHooksMayCallTheQueue relies on testHooksAreCalledWithoutTheLock.
func testHooksMayCallTheQueue(t *testing.T, impl Implementation) {
	d := newDiary()
	q := impl.NewObservable(queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Second),
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
		q.Done("unknown")
		if calls.Load() <= 3 { // otherwise the queue would never be empty
			q.Add("more")
		}
		q.AddAfter("later", time.Second)
	}
	q.Add("a")
	q.AddAfter("b", time.Second)
	q.AddRateLimited("c")
	pass(2 * time.Second)
	require.Subset(t, takeAll(t, q), []string{"a", "b", "c", "more"})
	q.ShutDown()
	q.Add("a")
	waitIdle()
	assert.Positive(t, calls.Load())
}

// testSeqIsTheOrder: hooks of different goroutines may run out of order; Seq has the order.
func testSeqIsTheOrder(t *testing.T, impl Implementation) {
	var mu sync.Mutex
	events := map[uint64]string{}
	trace := hooks.Observe[queue.Trace[string]](func(hook string, args []any) {
		if e, ok := args[0].(queue.Event[string]); ok {
			mu.Lock()
			defer mu.Unlock()
			events[e.Seq] = hook
		}
	})
	q := impl.NewObservable(nil, queue.Config[string]{Trace: trace})
	var workers, producers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for key, shutdown := q.Get(); !shutdown; key, shutdown = q.Get() {
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
		case "Added":
			require.False(t, dirty, "event %d", seq)
			dirty = true
		case "Coalesced":
			require.True(t, dirty, "event %d", seq)
		case "Got":
			require.True(t, dirty && !processing, "event %d", seq)
			dirty, processing = false, true
		case "Done":
			require.True(t, processing, "event %d", seq)
			processing = false
		default:
			require.Fail(t, "a number is missing", "event %d", seq)
		}
	}
	assert.False(t, dirty || processing)
}

// testMetricsAndHooks: metrics do not replace the hooks.
func testMetricsAndHooks(t *testing.T, impl Implementation) {
	d, m := newDiary(), &Metrics{}
	q := impl.NewObservable(nil, queue.Config[string]{Name: "q", Metrics: m.Provide, Trace: d.trace()})
	q.Add("a")
	assert.Equal(t, []string{"added a"}, d.read())
	assert.EqualValues(t, 1, m.Value(queue.MetricAdds))

	q = impl.NewObservable(nil, queue.Config[string]{})
	q.Add("a")
	q.UpdateMetrics() // there are no metrics
	assert.Equal(t, 1, q.Len())
}

// diary is a trace that records the events as lines.
type diary struct {
	mu    sync.Mutex
	lines []string         // guarded by mu
	seqs  map[uint64]bool  // guarded by mu
	extra func(seq uint64) // called by each callback that has an Event
}

func newDiary() *diary { return &diary{seqs: map[uint64]bool{}} }

// write records a call: the hook's name in words, and its arguments.
func (d *diary) write(hook string, args []any) {
	words := []string{strings.ToLower(inWords.ReplaceAllString(hook, "$1 $2"))}
	seq := uint64(0)
	for _, arg := range args {
		if e, ok := arg.(queue.Event[string]); ok {
			arg, seq = e.Key, e.Seq
		}
		words = append(words, fmt.Sprint(arg))
	}
	d.mu.Lock()
	d.lines = append(d.lines, strings.Join(words, " "))
	if seq != 0 {
		d.seqs[seq] = true
	}
	d.mu.Unlock()
	if d.extra != nil && seq != 0 {
		d.extra(seq)
	}
}

// inWords finds where a word of an identifier ends.
var inWords = regexp.MustCompile("([a-z])([A-Z])")

// read returns the lines since the last read.
func (d *diary) read() (lines []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines, d.lines = d.lines, nil
	return lines
}

func (d *diary) trace() *queue.Trace[string] { return hooks.Observe[queue.Trace[string]](d.write) }
