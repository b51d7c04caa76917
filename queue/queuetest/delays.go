package queuetest

import (
	"fmt"
	"math"
	"runtime"
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
	scenario("a key comes when its delay ends, not before", testDelay)
	scenario("no delay means now", testNoDelay)
	scenario("the end of a delay wakes a worker", testDelayWakes)
	scenario("keys come in the order of their deadlines", testDelayOrder)
	scenario("of two delays the one that ends earlier wins", testEarliestWins)
	scenario("an endless delay never ends", testEndlessDelay)
	scenario("a delayed key that a worker holds comes after Done", testDelayWhileProcessing)
	scenario("a key can be queued and delayed", testDelayWhileQueued)
	scenario("a key that is queued when its delay ends comes once", testDelayEndsWhileQueued)
	scenario("thousands of delays that end together", testManyDelays)
	scenario("AddAfter after ShutDown does nothing", testDelayAfterShutDown)
	scenario("ShutDown drops delays", testShutDownDropsDelays)
	scenario("Add of a delayed key", func(t *testing.T, q queue.DelayingInterface[string]) {
		testAddOfDelayed(t, q, impl.has(AddCancelsDelay))
	})
	scenario("Add of a delayed key that a worker holds", func(t *testing.T, q queue.DelayingInterface[string]) {
		testAddOfDelayedProcessing(t, q, impl.has(AddCancelsDelay))
	})
	scenario("equal delays", func(t *testing.T, q queue.DelayingInterface[string]) {
		testEqualDelays(t, q, impl.has(KeepsOrderOfEqualDelays))
	})
	bubble(t, "drain drops delays and does not wait for them", func(t *testing.T) {
		testDrainDropsDelays(t, impl) // without a ShutDown after it
	})
}

func testDelay(t *testing.T, q queue.DelayingInterface[string]) {
	q.AddAfter("a", 50*time.Millisecond)
	pass(50*time.Millisecond - 1)
	assert.Zero(t, q.Len())
	pass(1)
	assert.Equal(t, []string{"a"}, takeAll(t, q))
	pass(time.Hour)
	assertEmpty(t, q, "the key came twice")
}

func testNoDelay(t *testing.T, q queue.DelayingInterface[string]) {
	q.AddAfter("a", 0)
	q.AddAfter("b", -time.Second)
	assert.Equal(t, []string{"a", "b"}, takeAll(t, q))
}

func testDelayWakes(t *testing.T, q queue.DelayingInterface[string]) {
	first, second := takeAsync(q), takeAsync(q)
	settle()
	q.AddAfter("a", time.Second)
	q.AddAfter("b", time.Second)
	pass(time.Second)
	require.Len(t, first, 1)
	require.Len(t, second, 1)
	assert.Equal(t, []string{"a", "b"}, sorted([]string{(<-first).key, (<-second).key}))
}

func testDelayOrder(t *testing.T, q queue.DelayingInterface[string]) {
	const n = 100
	var want []string
	for i := range n {
		place := (i * 37) % n // each once, well mixed
		q.AddAfter(fmt.Sprint("key-", place), time.Duration(place+1)*time.Second)
		want = append(want, fmt.Sprint("key-", i))
	}
	var got []string
	for range n {
		pass(time.Second)
		got = append(got, takeAll(t, q)...)
	}
	assert.Equal(t, want, got)
}

func testEarliestWins(t *testing.T, q queue.DelayingInterface[string]) {
	q.AddAfter("later first", 2*time.Second)
	q.AddAfter("later first", time.Second)
	q.AddAfter("earlier first", time.Second)
	q.AddAfter("earlier first", 2*time.Second)
	pass(time.Second - 1)
	assertEmpty(t, q, "too early")
	pass(1)
	assert.Equal(t, []string{"earlier first", "later first"}, sorted(takeAll(t, q)))
	pass(time.Hour)
	assertEmpty(t, q, "the later delay is gone, not waiting")

	q.AddAfter("later first", time.Second)
	pass(time.Second)
	assert.Equal(t, []string{"later first"}, takeAll(t, q), "a delay after that is a new one")
}

func testEndlessDelay(t *testing.T, q queue.DelayingInterface[string]) {
	q.AddAfter("a", 100*365*24*time.Hour)
	q.AddAfter("b", math.MaxInt64/2)
	q.AddAfter("c", time.Second)
	pass(time.Hour)
	assert.Equal(t, []string{"c"}, takeAll(t, q))
}

func testDelayWhileProcessing(t *testing.T, q queue.DelayingInterface[string]) {
	q.Add("a")
	take(t, q)
	q.AddAfter("a", time.Second)
	pass(time.Minute)
	assertEmpty(t, q, "the worker still holds it")
	q.Done("a")
	assert.Equal(t, []string{"a"}, takeAll(t, q))

	q.Add("a")
	take(t, q)
	q.AddAfter("a", time.Second)
	q.Done("a")
	assertEmpty(t, q, "the delay goes on after Done")
	pass(time.Second)
	assert.Equal(t, []string{"a"}, takeAll(t, q))
}

func testDelayWhileQueued(t *testing.T, q queue.DelayingInterface[string]) {
	q.Add("a")
	q.AddAfter("a", time.Second)
	settle()
	assert.Equal(t, []string{"a"}, takeAll(t, q))
	pass(time.Second)
	assert.Equal(t, []string{"a"}, takeAll(t, q), "now, and once more later")
}

func testDelayEndsWhileQueued(t *testing.T, q queue.DelayingInterface[string]) {
	q.Add("a")
	q.AddAfter("a", time.Second)
	pass(time.Minute)
	assert.Equal(t, []string{"a"}, takeAll(t, q))
}

func testManyDelays(t *testing.T, q queue.DelayingInterface[string]) {
	const n = 5000 // more than client-go's channel holds
	for i := range n {
		q.AddAfter(fmt.Sprint("key-", i), time.Second)
	}
	pass(time.Second - 1)
	require.Zero(t, q.Len())
	pass(1)
	assert.Equal(t, n, q.Len(), "delays that ended did not add their keys")
}

func testDelayAfterShutDown(t *testing.T, q queue.DelayingInterface[string]) {
	q.ShutDown()
	q.AddAfter("a", 0)
	q.AddAfter("b", time.Second)
	pass(time.Hour)
	assertEmpty(t, q, "added after the shutdown")
}

func testShutDownDropsDelays(t *testing.T, q queue.DelayingInterface[string]) {
	q.Add("now")
	q.AddAfter("later", time.Second)
	settle()
	q.ShutDown()
	pass(time.Hour)
	assert.Equal(t, []string{"now"}, takeAll(t, q))
	_, shutdown := q.Get()
	assert.True(t, shutdown)
}

func testAddOfDelayed(t *testing.T, q queue.DelayingInterface[string], cancels bool) {
	q.AddAfter("a", time.Second)
	settle()
	q.Add("a")
	require.Equal(t, []string{"a"}, takeAll(t, q))
	pass(time.Hour)
	if !cancels {
		assert.Equal(t, []string{"a"}, takeAll(t, q), "it comes a second time")
		return
	}
	assertEmpty(t, q, "Add gave up the delay")

	q.AddAfter("a", time.Second)
	q.AddAfter("a", 0)
	require.Equal(t, []string{"a"}, takeAll(t, q))
	pass(time.Hour)
	assertEmpty(t, q, "AddAfter without delay is Add")
}

func testAddOfDelayedProcessing(t *testing.T, q queue.DelayingInterface[string], cancels bool) {
	q.Add("a")
	take(t, q)
	q.AddAfter("a", time.Second) // the worker: try again later
	settle()
	q.Add("a") // meanwhile: there is news
	q.Done("a")
	require.Equal(t, []string{"a"}, takeAll(t, q))
	pass(time.Hour)
	if !cancels {
		assert.Equal(t, []string{"a"}, takeAll(t, q), "it comes a second time")
		return
	}
	assertEmpty(t, q, "the news came sooner than the delay ended")
}

func testEqualDelays(t *testing.T, q queue.DelayingInterface[string], inOrder bool) {
	want := []string{"a", "b", "c", "d", "e", "f"}
	for _, key := range want {
		q.AddAfter(key, time.Second)
		settle()
	}
	q.AddAfter("a", time.Second) // not earlier, so it changes nothing
	pass(time.Second)
	got := takeAll(t, q)
	if !inOrder {
		got = sorted(got)
	}
	assert.Equal(t, want, got, "the order of the first AddAfter of each key")
}

func testDrainDropsDelays(t *testing.T, impl Implementation) {
	before := runtime.NumGoroutine()
	q := impl.NewDelaying()
	q.AddAfter("later", time.Second)
	settle()
	drained := background(q.ShutDownWithDrain)
	require.True(t, drained(), "a delayed key is not waited for")

	left := runtime.NumGoroutine()
	if impl.has(DrainLeavesNothing) {
		assert.LessOrEqual(t, left, before, "a goroutine is left")
	} else {
		// Time stands still when the scenario is over; let them end now.
		pass(time.Minute)
		assert.Greater(t, left, runtime.NumGoroutine(), "no goroutine was left")
	}
	assertEmpty(t, q, "the delay was dropped")
}
