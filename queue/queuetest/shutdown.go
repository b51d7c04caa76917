package queuetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

func runShutDown(t *testing.T, impl Implementation, kind kind) {
	scenario := func(name string, f func(*testing.T, queue.Interface[string])) {
		bubble(t, name, func(t *testing.T) { f(t, ended(t, kind.make())) })
	}
	scenario("ShutDown refuses new keys and hands out old ones", testShutDown)
	scenario("ShutDown wakes all workers", testShutDownWakes)
	scenario("ShutDown does not wait for workers", testShutDownDoesNotWait)
	scenario("a key added before ShutDown comes again after it", testShutDownKeepsDirty)
	scenario("drain waits for workers", testDrainWaitsForWorkers)
	scenario("drain of an idle queue returns at once", testDrainIdle)
	scenario("drain waits for a key that comes again", func(t *testing.T, q queue.Interface[string]) {
		testDrainDirty(t, q, impl.has(DrainsQueued))
	})
	scenario("drain after ShutDown waits", testDrainAfterShutDown)
	scenario("ShutDown ends a drain", testShutDownEndsDrain)
	scenario("ShutDown ends every drain", testShutDownEndsTwoDrains)
	scenario("ShutDown ends a drain that began after another ShutDown", func(t *testing.T, q queue.Interface[string]) {
		// client-go's base queue can do it; what it wraps around it cannot.
		testSecondShutDown(t, q, impl.has(EndsEveryDrain) || !kind.delays)
	})
	scenario("drain waits for queued keys", func(t *testing.T, q queue.Interface[string]) {
		testDrainWaitsForQueued(t, q, impl.has(DrainsQueued))
	})
	scenario("two drains", func(t *testing.T, q queue.Interface[string]) {
		testTwoDrains(t, q, impl.has(WakesEveryDrain))
	})
}

func testShutDown(t *testing.T, q queue.Interface[string]) {
	assert.False(t, q.ShuttingDown())
	q.Add("a")
	q.Add("b")
	q.ShutDown()
	q.ShutDown()
	assert.True(t, q.ShuttingDown())

	q.Add("c")
	q.Add("a")
	assert.Equal(t, []string{"a", "b"}, takeAll(t, q))
	for range 2 {
		key, shutdown := q.Get()
		assert.Equal(t, answer{"", true}, answer{key, shutdown})
	}
}

func testShutDownWakes(t *testing.T, q queue.Interface[string]) {
	first, second, third := takeAsync(q), takeAsync(q), takeAsync(q)
	settle()
	q.ShutDown()
	settle()
	for _, got := range []<-chan answer{first, second, third} {
		require.Len(t, got, 1)
		assert.Equal(t, answer{"", true}, <-got)
	}
}

func testShutDownDoesNotWait(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	q.Add("b")
	take(t, q)
	assert.True(t, background(q.ShutDown)())
	q.Done("a")
}

func testShutDownKeepsDirty(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	q.Add("a")
	q.ShutDown()
	q.Done("a")
	assert.Equal(t, []string{"a"}, takeAll(t, q))

	take2 := takeAsync(q)
	settle()
	assert.Equal(t, answer{"", true}, <-take2)
}

func testDrainWaitsForWorkers(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	q.Add("b")
	take(t, q)
	take(t, q)
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained())
	assert.True(t, q.ShuttingDown())
	q.Add("c")
	assertEmpty(t, q, "a key was added after the shutdown")
	q.Done("a")
	require.False(t, drained(), "one key is left")
	q.Done("b")
	assert.True(t, drained())
}

func testDrainIdle(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	q.Done(take(t, q))
	assert.True(t, background(q.ShutDownWithDrain)())
	assert.True(t, background(q.ShutDownWithDrain)(), "again")
}

func testDrainDirty(t *testing.T, q queue.Interface[string], waits bool) {
	q.Add("a")
	take(t, q)
	q.Add("a")
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained())
	q.Done("a")
	if !waits {
		require.True(t, drained(), "for a moment no worker held a key")
		assert.Equal(t, 1, q.Len(), "but one is left")
		return
	}
	require.False(t, drained())
	require.Equal(t, "a", take(t, q))
	require.False(t, drained())
	q.Done("a")
	assert.True(t, drained())
}

func testDrainAfterShutDown(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	q.ShutDown()
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained())
	q.Done("a")
	assert.True(t, drained())
}

func testShutDownEndsDrain(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained())
	q.ShutDown()
	assert.True(t, drained())
	q.Done("a")
}

func testSecondShutDown(t *testing.T, q queue.Interface[string], ends bool) {
	q.Add("a")
	take(t, q)
	q.ShutDown()
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained())
	q.ShutDown()
	assert.Equal(t, ends, drained())
	q.Done("a")
	assert.True(t, drained())
}

func testDrainWaitsForQueued(t *testing.T, q queue.Interface[string], waits bool) {
	q.Add("a")
	q.Add("b")
	drained := background(q.ShutDownWithDrain)
	if !waits {
		require.True(t, drained(), "nothing is with a worker, and that is enough")
		assert.Equal(t, 2, q.Len(), "but two keys are left")
		return
	}
	pass(time.Hour)
	require.False(t, drained())
	require.Equal(t, "a", take(t, q))
	q.Done("a")
	require.False(t, drained(), "b is queued")
	require.Equal(t, "b", take(t, q), "after the shutdown the queue hands out what it has")
	require.False(t, drained())
	q.Done("b")
	assert.True(t, drained())
}

func testShutDownEndsTwoDrains(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	first, second := background(q.ShutDownWithDrain), background(q.ShutDownWithDrain)
	require.False(t, first(), "a second drain ended the first one")
	require.False(t, second(), "the second of two drains does not wait for the worker")
	q.ShutDown()
	assert.True(t, first() && second(), "ShutDown ends one of two drains")
	q.Done("a")
	settle()
	q.ShutDown()
}

func testTwoDrains(t *testing.T, q queue.Interface[string], both bool) {
	q.Add("a")
	take(t, q)
	first, second := background(q.ShutDownWithDrain), background(q.ShutDownWithDrain)
	require.False(t, first())
	require.False(t, second())
	q.Done("a")
	if !both {
		require.True(t, first() != second(), "Done wakes one of them")
		q.ShutDown()
	}
	assert.True(t, first())
	assert.True(t, second())
}
