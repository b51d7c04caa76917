package queue_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

// pass lets time pass in a bubble, and everything happen that happens until then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// takeAll takes and gives back what waits.
func takeAll[K comparable](q queue.Interface[K]) (keys []K) {
	for q.Len() > 0 {
		key, _ := q.Get()
		keys = append(keys, key)
		q.Done(key)
	}
	return keys
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewDelaying(queue.Config[string]{})
		defer q.ShutDown()
		assert.False(t, q.Cancel("a"), "never heard of")

		q.AddAfter("a", time.Second)
		q.AddAfter("b", time.Second)
		assert.True(t, q.Cancel("a"))
		assert.False(t, q.Cancel("a"), "again")
		require.NoError(t, q.Check())
		pass(time.Minute)
		assert.Equal(t, []string{"b"}, takeAll(q))

		q.Add("a")
		assert.False(t, q.Cancel("a"), "it waits for a worker, not for a delay")
		q.AddAfter("a", time.Second)
		assert.True(t, q.Cancel("a"))
		require.NoError(t, q.Check())
		assert.Equal(t, []string{"a"}, takeAll(q), "that it waits for a worker is not canceled")
	})
}

func TestHoldBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held []time.Duration
		q := queue.NewRateLimiting(
			queue.NewItemExponentialFailureRateLimiter[string](10*time.Second, time.Hour),
			queue.Config[string]{HoldBackoff: true, Trace: &queue.Trace[string]{
				Held: func(_ queue.Event[string], wait time.Duration) { held = append(held, wait) },
			}})
		defer q.ShutDown()

		q.AddRateLimited("a")
		q.Add("a")
		pass(4 * time.Second)
		q.AddAfter("a", time.Second)
		q.AddAfter("a", 0)
		assert.Zero(t, q.Len(), "nothing makes it come sooner")
		assert.Equal(t, []time.Duration{10 * time.Second, 6 * time.Second, 6 * time.Second}, held)
		assert.Equal(t, []queue.DelayedKey[string]{{Key: "a", In: 6 * time.Second, Held: true}}, q.Snapshot().Delayed)
		require.NoError(t, q.Check())
		pass(6 * time.Second)
		assert.Equal(t, []string{"a"}, takeAll(q))

		q.Add("a")
		assert.Equal(t, []string{"a"}, takeAll(q), "it backs off no longer")

		q.AddAfter("b", time.Second)
		q.Add("b")
		assert.Equal(t, []string{"b"}, takeAll(q), "a plain delay is no back-off")

		q.AddRateLimited("c")
		assert.True(t, q.Cancel("c"))
		q.Add("c")
		assert.Equal(t, []string{"c"}, takeAll(q))
	})
}

// A back-off that another request overtakes is a plain delay from then on.
func TestHoldBackoffThatIsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewRateLimiting(
			queue.NewItemExponentialFailureRateLimiter[string](10*time.Second, time.Hour),
			queue.Config[string]{HoldBackoff: true})
		defer q.ShutDown()
		q.AddAfter("a", time.Second)
		q.AddRateLimited("a")
		assert.Equal(t, []queue.DelayedKey[string]{{Key: "a", In: time.Second}}, q.Snapshot().Delayed)
		q.Add("a")
		assert.Equal(t, []string{"a"}, takeAll(q))
	})
}

func TestSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewDelaying(queue.Config[string]{
			Name:  "a queue",
			Trace: &queue.Trace[string]{Got: func(queue.Event[string], time.Duration) {}},
		})
		assert.Equal(t, queue.Snapshot[string]{Name: "a queue"}, q.Snapshot())

		for _, key := range []string{"old", "dirty", "next", "last"} {
			q.Add(key)
		}
		q.Get()
		pass(time.Second)
		q.Get()
		q.Add("dirty")
		q.AddAfter("in 3s", 3*time.Second)
		q.AddAfter("in 2s", 2*time.Second)
		q.AddAfter("old", 2*time.Second)
		pass(time.Second)
		want := queue.Snapshot[string]{
			Name:   "a queue",
			Seq:    10,
			Queued: []string{"next", "last"},
			Processing: []queue.ProcessingKey[string]{
				{Key: "old", For: 2 * time.Second}, {Key: "dirty", For: time.Second, Dirty: true},
			},
			Delayed: []queue.DelayedKey[string]{
				{Key: "in 2s", In: time.Second}, {Key: "old", In: time.Second}, {Key: "in 3s", In: 2 * time.Second},
			},
		}
		assert.Equal(t, want, q.Snapshot())

		go q.ShutDownWithDrain()
		synctest.Wait()
		want.Delayed, want.ShuttingDown, want.Draining = nil, true, true
		assert.Equal(t, want, q.Snapshot())

		q.ShutDown()
		synctest.Wait()
		want.Draining = false
		assert.Equal(t, want, q.Snapshot())
	})
}

func TestSnapshotOfWaitingWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		go q.Get()
		go q.Get()
		synctest.Wait()
		assert.Equal(t, 2, q.Snapshot().Waiting)
		q.ShutDown()
		synctest.Wait()
		assert.Zero(t, q.Snapshot().Waiting)
	})
}

func TestSnapshotWithoutClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		q.Add("a")
		q.Get()
		pass(time.Hour)
		assert.Equal(t, []queue.ProcessingKey[string]{{Key: "a"}}, q.Snapshot().Processing, "nobody looked at the clock")
	})
}

func TestSnapshotWithOrder(t *testing.T) {
	q := queue.New(queue.Config[int]{Order: &smallest{}})
	q.Add(2)
	q.Add(1)
	q.Add(3)
	q.Get()
	assert.ElementsMatch(t, []int{2, 3}, q.Snapshot().Queued)
	require.NoError(t, q.Check())
}

// smallest is an Order that hands out the smallest key first.
type smallest struct{ keys []int }

func (s *smallest) Push(key int) { s.keys = append(s.keys, key) }
func (s *smallest) Len() int     { return len(s.keys) }
func (s *smallest) Touch(int)    {}
func (s *smallest) Pop() int {
	least := 0
	for i, key := range s.keys {
		if key < s.keys[least] {
			least = i
		}
	}
	key := s.keys[least]
	s.keys[least] = s.keys[len(s.keys)-1]
	s.keys = s.keys[:len(s.keys)-1]
	return key
}

// An Order that makes keys up is told so, and does not take the queue with it.
func TestOrderThatIsWrong(t *testing.T) {
	order := &smallest{}
	q := queue.New(queue.Config[int]{Order: order})
	q.Add(1)
	order.keys[0] = 2
	assert.PanicsWithValue(t, "queue: Order.Pop returned 2, which it was not given", func() { q.Get() })
	assert.Zero(t, q.Len(), "the lock is free")
}

func TestKeysOfOtherTypes(t *testing.T) {
	type name struct{ namespace, name string }
	names := queue.New(queue.Config[name]{})
	names.Add(name{"ns", "a"})
	names.Add(name{"ns", "b"})
	names.Add(name{"ns", "a"})
	assert.Equal(t, []name{{"ns", "a"}, {"ns", "b"}}, takeAll[name](names))

	anything := queue.New(queue.Config[any]{})
	assert.Panics(t, func() { anything.Add([]int{1}) }, "slices are not comparable")
	anything.Add(1)
	anything.Add("1")
	assert.Equal(t, []any{1, "1"}, takeAll[any](anything), "the panic left nothing behind")
}

// What went through the queue is not kept alive by it for ever.
func TestKeysAreCollected(t *testing.T) {
	type object struct{ _ [100]byte }
	q := queue.NewDelaying(queue.Config[*object]{})
	var pointers []weak.Pointer[object]
	alive := func() (n int) {
		runtime.GC()
		for _, p := range pointers {
			if p.Value() != nil {
				n++
			}
		}
		return n
	}
	for i := range 5 * queue.KeepSettled {
		o := new(object)
		pointers = append(pointers, weak.Make(o))
		if i%2 == 0 {
			q.AddAfter(o, time.Hour)
		}
		q.Add(o)
	}
	takeAll[*object](q)
	assert.LessOrEqual(t, alive(), queue.KeepSettled)
	require.NoError(t, q.Check())

	last := new(object)
	q.Add(last)
	q.ShutDown()
	takeAll[*object](q)
	assert.LessOrEqual(t, alive(), 1, "one may still be on the stack")
	require.NoError(t, q.Check())
	assert.Zero(t, q.Len()) // q is alive until here
}

func TestDelayThatOverflows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewDelaying(queue.Config[string]{})
		pass(time.Hour)
		q.AddAfter("never", math.MaxInt64)
		q.AddAfter("soon", time.Second)
		require.NoError(t, q.Check())
		pass(time.Hour)
		assert.Equal(t, []string{"soon"}, takeAll(q))
		require.NoError(t, q.Check())
		assert.Len(t, q.Snapshot().Delayed, 1)
		q.ShutDown()
	})
}

// The timer is set to the earliest delay, also after that changed.
func TestTimerFollowsTheEarliestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewDelaying(queue.Config[string]{})
		defer q.ShutDown()
		step := func(want ...string) {
			t.Helper()
			require.NoError(t, q.Check())
			assert.Equal(t, want, takeAll(q))
		}
		q.AddAfter("a", 10*time.Second)
		q.AddAfter("b", 5*time.Second)
		q.AddAfter("c", 8*time.Second)
		q.Cancel("b") // its timer goes on
		pass(5 * time.Second)
		step()
		pass(3 * time.Second)
		step("c")
		q.AddAfter("d", time.Second)
		pass(time.Second)
		step("d")
		q.AddAfter("e", 20*time.Second)
		pass(time.Second)
		step("a")
		pass(time.Hour)
		step("e")
		q.AddAfter("f", time.Second)
		pass(time.Second)
		step("f")
	})
}

// A worker that waits is woken once for each key, whoever brings it.
func TestManyWorkersManyKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewDelaying(queue.Config[string]{})
		got := make(chan string, 100)
		for range 100 {
			go func() {
				key, _ := q.Get()
				got <- key
			}()
		}
		synctest.Wait()
		for i := range 50 {
			q.AddAfter(fmt.Sprint("delayed-", i), time.Second)
			q.Add(fmt.Sprint("now-", i))
		}
		pass(time.Second)
		assert.Len(t, got, 100)
		q.ShutDown()
	})
}

func TestNewRateLimitingDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewRateLimiting[string](nil, queue.Config[string]{})
		defer q.ShutDown()
		q.AddRateLimited("a")
		assert.Equal(t, []queue.DelayedKey[string]{{Key: "a", In: 5 * time.Millisecond}}, q.Snapshot().Delayed)
	})
}
