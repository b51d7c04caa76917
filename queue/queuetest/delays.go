package queuetest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

func runDelays(t *testing.T, impl Implementation) {
	scenario := func(name string, f func(*testing.T, queue.DelayingInterface[string])) {
		bubble(t, name, func(t *testing.T) { f(t, ended(t, impl.NewDelaying())) })
	}
	scenario("a key is queued when its delay ends, not before", testDelay)
	scenario("without a delay, AddAfter adds now", testNoDelay)
	scenario("the end of a delay wakes a worker", testDelayWakes)
	scenario("keys are queued in the order of their deadlines", testDelayOrder)
	scenario("the earlier of two deadlines wins", testEarliestWins)
	scenario("an endless delay never ends", testEndlessDelay)
	scenario("a delayed key that a worker holds is queued after Done", testDelayWhileProcessing)
	scenario("a key can be queued and delayed", testDelayWhileQueued)
	scenario("a key that is queued when its delay ends is handed out once", testDelayEndsWhileQueued)
	scenario("thousands of delays that end together", testManyDelays)
	scenario("AddAfter after ShutDown does nothing", testDelayAfterShutDown)
	scenario("ShutDown drops delays", testShutDownDropsDelays)
	scenario("Add of a delayed key (issue 112325)", func(t *testing.T, q queue.DelayingInterface[string]) {
		testAddOfDelayed(t, q, impl.has(AddCancelsDelay))
	})
	scenario("Add of a delayed key that a worker holds", func(t *testing.T, q queue.DelayingInterface[string]) {
		testAddOfDelayedProcessing(t, q, impl.has(AddCancelsDelay))
	})
	scenario("equal delays", func(t *testing.T, q queue.DelayingInterface[string]) {
		testEqualDelays(t, q, impl.has(KeepsOrderOfEqualDelays))
	})
	bubble(t, "drain drops delays and does not wait for them (issue 134323)", func(t *testing.T) {
		testDrainDropsDelays(t, impl) // without a ShutDown after it
	})
}

// assertTaken asserts that exactly these keys are queued, and takes them.
func assertTaken(t *testing.T, q queue.Interface[string], when string, want ...string) {
	t.Helper()
	if got := takeAll(t, q); !slices.Equal(want, got) {
		t.Errorf("%s: want the queued keys %q, got %q", when, want, got)
	}
}

// assertNoDelays asserts that a queue that is shut down keeps no delays, if it has snapshots.
func assertNoDelays(t *testing.T, q queue.DelayingInterface[string]) {
	t.Helper()
	if q, ok := q.(interface{ Snapshot() queue.Snapshot[string] }); ok {
		assert.Empty(t, q.Snapshot().Delayed, "want no delayed keys after ShutDown")
	}
}

func testDelay(t *testing.T, q queue.DelayingInterface[string]) {
	q.AddAfter("a", 50*time.Millisecond)
	pass(50*time.Millisecond - 1)
	assertTaken(t, q, "before the delay of a has ended")
	pass(1)
	assertTaken(t, q, "when the delay of a has ended", "a")
	pass(time.Hour)
	assertEmpty(t, q, "the key was queued twice")
}

func testNoDelay(t *testing.T, q queue.DelayingInterface[string]) {
	q.AddAfter("a", 0)
	q.AddAfter("b", -time.Second)
	assert.Equal(t, 2, q.Len(), "want AddAfter with delays of 0 and -1s to have added the keys when it returns")
	assertTaken(t, q, "after AddAfter with delays of 0 and -1s", "a", "b")
}

func testDelayWakes(t *testing.T, q queue.DelayingInterface[string]) {
	first, second := takeAsync(q), takeAsync(q)
	waitIdle()
	q.AddAfter("a", time.Second)
	q.AddAfter("b", time.Second)
	pass(time.Second)
	require.Len(t, first, 1, "want the end of a delay to wake a worker in Get")
	require.Len(t, second, 1, "want the ends of two delays to wake two workers in Get")
	assert.Equal(t, []string{"a", "b"}, sorted([]string{(<-first).key, (<-second).key}))
}

func testDelayOrder(t *testing.T, q queue.DelayingInterface[string]) {
	const n = 100
	var want []string
	for i := range n {
		place := (i * 37) % n // a permutation
		q.AddAfter(fmt.Sprint("key-", place), time.Duration(place+1)*time.Second)
		want = append(want, fmt.Sprint("key-", i))
	}
	var got []string
	for range n {
		pass(time.Second)
		got = append(got, takeAll(t, q)...)
	}
	assert.Equal(t, want, got, "want the keys in the order of their deadlines")
}

func testEarliestWins(t *testing.T, q queue.DelayingInterface[string]) {
	q.AddAfter("later first", 2*time.Second)
	q.AddAfter("later first", time.Second)
	q.AddAfter("earlier first", time.Second)
	q.AddAfter("earlier first", 2*time.Second)
	pass(time.Second - 1)
	assertTaken(t, q, "before the earlier deadline")
	pass(1)
	if got := sorted(takeAll(t, q)); !slices.Equal(got, []string{"earlier first", "later first"}) {
		t.Errorf(`at the earlier of two deadlines: want both keys, ["earlier first" "later first"], got %q`, got)
	}
	pass(time.Hour)
	assertTaken(t, q, "at the later deadline, which had been replaced")

	q.AddAfter("later first", time.Second)
	pass(time.Second)
	assertTaken(t, q, "at the end of a new delay", "later first")

	q.AddAfter("first", time.Minute)
	q.AddAfter("overtakes", time.Hour)
	q.AddAfter("overtakes", time.Second)
	pass(time.Second)
	assertTaken(t, q, "at the new deadline of a key that overtakes another one", "overtakes")
	pass(time.Minute)
	assertTaken(t, q, "at the deadline of the other one", "first")
}

func testEndlessDelay(t *testing.T, q queue.DelayingInterface[string]) {
	q.AddAfter("a", 100*365*24*time.Hour)
	q.AddAfter("b", math.MaxInt64/2)
	q.AddAfter("c", time.Second)
	pass(time.Hour)
	assertTaken(t, q, "after an hour, beside delays of 100 years and more", "c")
}

func testDelayWhileProcessing(t *testing.T, q queue.DelayingInterface[string]) {
	q.Add("a")
	take(t, q)
	q.AddAfter("a", time.Second)
	pass(time.Minute)
	assertTaken(t, q, "while a worker holds the key")
	q.Done("a")
	assertTaken(t, q, "after Done of a key whose delay has ended", "a")

	q.Add("a")
	take(t, q)
	q.AddAfter("a", time.Second)
	q.Done("a")
	assertTaken(t, q, "after Done of a key whose delay goes on")
	pass(time.Second)
	assertTaken(t, q, "at the end of that delay", "a")
}

func testDelayWhileQueued(t *testing.T, q queue.DelayingInterface[string]) {
	q.Add("a")
	q.AddAfter("a", time.Second)
	waitIdle()
	assertTaken(t, q, "before the delay of a queued key has ended", "a")
	pass(time.Second)
	assertTaken(t, q, "when the delay of a key that was queued has ended", "a")
}

func testDelayEndsWhileQueued(t *testing.T, q queue.DelayingInterface[string]) {
	q.Add("a")
	q.AddAfter("a", time.Second)
	pass(time.Minute)
	assertTaken(t, q, "when the delay of a key that is still queued has ended", "a")
}

func testManyDelays(t *testing.T, q queue.DelayingInterface[string]) {
	const n = 5000 // more than client-go's channel holds
	for i := range n {
		q.AddAfter(fmt.Sprint("key-", i), time.Second)
	}
	pass(time.Second - 1)
	require.Zero(t, q.Len(), "want no key before the delays have ended")
	pass(1)
	assert.Equal(t, n, q.Len(), "want every delay that ended to add its key")
}

func testDelayAfterShutDown(t *testing.T, q queue.DelayingInterface[string]) {
	q.ShutDown()
	q.AddAfter("a", 0)
	q.AddAfter("b", time.Second)
	assertNoDelays(t, q)
	pass(time.Hour)
	assertTaken(t, q, "after AddAfter on a queue that is shut down")
}

func testShutDownDropsDelays(t *testing.T, q queue.DelayingInterface[string]) {
	q.Add("now")
	q.AddAfter("later", time.Second)
	waitIdle()
	q.ShutDown()
	assertNoDelays(t, q)
	pass(time.Hour)
	assertTaken(t, q, "an hour after ShutDown", "now")
	_, shutdown := q.Get()
	assert.True(t, shutdown)
}

func testAddOfDelayed(t *testing.T, q queue.DelayingInterface[string], cancels bool) {
	q.AddAfter("a", time.Second)
	waitIdle()
	q.Add("a")
	require.Equal(t, []string{"a"}, takeAll(t, q))
	pass(time.Hour)
	if !cancels {
		assertTaken(t, q, "when the delay of a key that was added has ended", "a")
		return
	}
	assertTaken(t, q, "when the delay that Add has canceled would have ended")

	q.AddAfter("a", time.Second)
	q.AddAfter("a", 0)
	assertTaken(t, q, "after AddAfter without delay", "a")
	pass(time.Hour)
	assertTaken(t, q, "when the delay that AddAfter without delay has canceled would have ended")
}

func testAddOfDelayedProcessing(t *testing.T, q queue.DelayingInterface[string], cancels bool) {
	q.Add("a")
	take(t, q)
	q.AddAfter("a", time.Second) // the worker: try again later
	waitIdle()
	q.Add("a") // an event handler: the object has changed
	q.Done("a")
	require.Equal(t, []string{"a"}, takeAll(t, q))
	pass(time.Hour)
	if !cancels {
		assertTaken(t, q, "when the delay of a key that was added has ended", "a")
		return
	}
	assertTaken(t, q, "when the delay that an event has canceled would have ended")
}

func testEqualDelays(t *testing.T, q queue.DelayingInterface[string], inOrder bool) {
	want := []string{"a", "b", "c", "d", "e", "f"}
	for _, key := range want {
		q.AddAfter(key, time.Second)
		waitIdle()
	}
	q.AddAfter("a", time.Second) // not earlier: no effect
	pass(time.Second)
	got := takeAll(t, q)
	if !inOrder {
		got = sorted(got)
	}
	assert.Equal(t, want, got, "want equal deadlines in the order of their first AddAfter")

	q.AddAfter("shortened", 2*time.Second)
	q.AddAfter("waits already", time.Second)
	q.AddAfter("shortened", time.Second) // its deadline is that of a later call now
	pass(time.Second)
	got = takeAll(t, q)
	want = []string{"waits already", "shortened"}
	if !inOrder {
		got, want = sorted(got), sorted(want)
	}
	assert.Equal(t, want, got, "want a key whose delay was shortened behind the keys that had the same deadline before it")
}

func testDrainDropsDelays(t *testing.T, impl Implementation) {
	before := Goroutines()
	q := impl.NewDelaying()
	q.AddAfter("later", time.Second)
	waitIdle()
	drained := background(q.ShutDownWithDrain)
	require.True(t, drained(), "the drain does not wait for a delayed key")

	left := Goroutines()
	if impl.has(DrainLeavesNothing) {
		assert.LessOrEqual(t, left, before, "a goroutine was left behind")
	} else {
		// Time stops when the scenario is over; let the goroutines end now.
		pass(time.Minute)
		assert.Greater(t, left, Goroutines(), "no goroutine was left behind")
	}
	assertEmpty(t, q, "the delay was dropped")
}
