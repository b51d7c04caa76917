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
	scenario("a key added before ShutDown is handed out again after it", testShutDownKeepsDirty)
	scenario("drain waits for workers", testDrainWaitsForWorkers)
	scenario("drain of an idle queue returns at once", testDrainIdle)
	scenario("drain waits for a key that is queued again", func(t *testing.T, q queue.Interface[string]) {
		testDrainDirty(t, q, impl.has(DrainsQueued))
	})
	scenario("drain after ShutDown waits", testDrainAfterShutDown)
	scenario("ShutDown ends a drain (issue 119554)", testShutDownEndsDrain)
	scenario("ShutDown ends every drain", testShutDownEndsTwoDrains)
	scenario("ShutDown ends a drain that began after another ShutDown", func(t *testing.T, q queue.Interface[string]) {
		// client-go's base queue can do it; its delaying queue cannot.
		testSecondShutDown(t, q, impl.has(EndsEveryDrain) || !kind.delays)
	})
	scenario("drain waits for queued keys (issue 141079)", func(t *testing.T, q queue.Interface[string]) {
		testDrainWaitsForQueued(t, q, impl.has(DrainsQueued))
	})
	scenario("two drains (issue 141079)", func(t *testing.T, q queue.Interface[string]) {
		testTwoDrains(t, q, impl.has(WakesEveryDrain))
	})
}

func testShutDown(t *testing.T, q queue.Interface[string]) {
	assert.False(t, q.ShuttingDown(), "a new queue")
	q.Add("a")
	q.Add("b")
	q.ShutDown()
	q.ShutDown()
	assert.True(t, q.ShuttingDown(), "after ShutDown")

	q.Add("c")
	q.Add("a")
	assert.Equal(t, []string{"a", "b"}, takeAll(t, q), "after ShutDown, Get still hands out the old keys, and no new one")
	for range 2 {
		got := takeAsync(q)
		waitIdle()
		require.Equal(t, 1, len(got), "Get of an empty queue blocks after ShutDown")
		assert.Equal(t, answer{"", true}, <-got)
	}
}

func testShutDownWakes(t *testing.T, q queue.Interface[string]) {
	first, second, third := takeAsync(q), takeAsync(q), takeAsync(q)
	waitIdle()
	q.ShutDown()
	waitIdle()
	for _, got := range []<-chan answer{first, second, third} {
		require.Equal(t, 1, len(got), "ShutDown did not wake every worker that waits in Get")
		assert.Equal(t, answer{"", true}, <-got, "an empty queue that is shut down")
	}
}

func testShutDownDoesNotWait(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	q.Add("b")
	take(t, q)
	assert.True(t, background(q.ShutDown)(), "ShutDown waits for the worker")
	q.Done("a")
}

func testShutDownKeepsDirty(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	q.Add("a")
	q.ShutDown()
	q.Done("a")
	assert.Equal(t, []string{"a"}, takeAll(t, q), "the key was added before ShutDown, while a worker held it")

	take2 := takeAsync(q)
	waitIdle()
	require.Equal(t, 1, len(take2), "Get of an empty queue blocks after ShutDown")
	assert.Equal(t, answer{"", true}, <-take2)
}

func testDrainWaitsForWorkers(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	q.Add("b")
	take(t, q)
	take(t, q)
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained(), "the drain ended while workers held two keys")
	assert.True(t, q.ShuttingDown(), "during a drain")
	q.Add("c")
	assertEmpty(t, q, "the key was added after the shutdown")
	q.Done("a")
	require.False(t, drained(), "the drain ended while a worker held one key")
	q.Done("b")
	assert.True(t, drained(), "every key is done, and the drain still waits")
}

func testDrainIdle(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	q.Done(take(t, q))
	assert.True(t, background(q.ShutDownWithDrain)(), "the queue is empty, and no worker holds a key")
	assert.True(t, background(q.ShutDownWithDrain)(), "again")
}

func testDrainDirty(t *testing.T, q queue.Interface[string], waits bool) {
	q.Add("a")
	take(t, q)
	q.Add("a")
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained(), "a worker holds the key")
	q.Done("a")
	if !waits {
		require.True(t, drained(), "no worker held a key for a moment")
		assert.Equal(t, 1, q.Len(), "one key is still queued")
		return
	}
	require.False(t, drained(), "the drain ended although the key was queued again")
	require.Equal(t, "a", take(t, q))
	require.False(t, drained(), "a worker holds the key again")
	q.Done("a")
	assert.True(t, drained(), "every key is done, and the drain still waits")
}

func testDrainAfterShutDown(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	q.ShutDown()
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained(), "a worker holds the key")
	q.Done("a")
	assert.True(t, drained(), "every key is done, and the drain still waits")
}

func testShutDownEndsDrain(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained(), "a worker holds the key")
	q.ShutDown()
	assert.True(t, drained(), "ShutDown did not end the drain")
	q.Done("a")
}

func testSecondShutDown(t *testing.T, q queue.Interface[string], ends bool) {
	q.Add("a")
	take(t, q)
	q.ShutDown()
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained(), "the ShutDown before the drain ended it")
	q.ShutDown()
	assert.Equal(t, ends, drained(), "a second ShutDown ends a drain")
	q.Done("a")
	assert.True(t, drained(), "every key is done, and the drain still waits")
}

func testDrainWaitsForQueued(t *testing.T, q queue.Interface[string], waits bool) {
	q.Add("a")
	q.Add("b")
	drained := background(q.ShutDownWithDrain)
	if !waits {
		require.True(t, drained(), "no worker holds a key, which is enough")
		assert.Equal(t, 2, q.Len(), "two keys are still queued")
		return
	}
	pass(time.Hour)
	require.False(t, drained(), "the drain ended although two keys are queued")
	require.Equal(t, "a", take(t, q))
	q.Done("a")
	require.False(t, drained(), "b is queued")
	require.Equal(t, "b", take(t, q), "after the shutdown the queue hands out queued keys")
	require.False(t, drained(), "a worker holds b")
	q.Done("b")
	assert.True(t, drained(), "every key is done, and the drain still waits")
}

func testShutDownEndsTwoDrains(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	first, second := background(q.ShutDownWithDrain), background(q.ShutDownWithDrain)
	require.False(t, first(), "a second drain ended the first")
	require.False(t, second(), "the second of two drains does not wait for the worker")
	q.ShutDown()
	assert.True(t, first() && second(), "ShutDown did not end both drains")
	q.Done("a")
	waitIdle()
	q.ShutDown()
}

func testTwoDrains(t *testing.T, q queue.Interface[string], both bool) {
	q.Add("a")
	take(t, q)
	first, second := background(q.ShutDownWithDrain), background(q.ShutDownWithDrain)
	require.False(t, first(), "a worker holds the key")
	require.False(t, second(), "a worker holds the key")
	q.Done("a")
	if !both {
		require.True(t, first() != second(), "Done wakes one of the two")
		q.ShutDown()
	}
	assert.True(t, first(), "Done did not wake the first drain")
	assert.True(t, second(), "Done did not wake the second drain")
}
