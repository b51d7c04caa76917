package queuetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

func runBase(t *testing.T, impl Implementation, kind kind) {
	scenario := func(name string, f func(*testing.T, queue.Interface[string])) {
		bubble(t, name, func(t *testing.T) { f(t, ended(t, kind.make())) })
	}
	scenario("first in, first out", testOrder)
	scenario("a key waits at most once", testCoalesce)
	scenario("a key added while a worker holds it comes again after Done", testAddWhileProcessing)
	scenario("the empty key is a key", testEmptyKey)
	scenario("Get waits for a key", testGetWaits)
	scenario("Get waits on while no key is queued", testGetWaitsOn)
	scenario("each key wakes a worker", testWakesWorkers)
	scenario("Done of a key that was added again wakes a worker", testDoneWakes)
	scenario("Len counts what waits", testLen)
	scenario("many producers and workers", testPool)
	scenario("Done of an unknown key", testDoneOfNothing)
	scenario("Done of an unknown key while workers hold many", testDoneOfNothingBesideMany)
	scenario("Done of a key that waits (issue 141079)", func(t *testing.T, q queue.Interface[string]) {
		testDoneWithoutGet(t, q, impl.has(IgnoresUnknownDone))
	})

	runShutDown(t, impl, kind)
	if kind.delays {
		t.Run("properties", func(t *testing.T) { testProperties(t, impl, kind) })
		t.Run("linearizability", func(t *testing.T) { testLinearizability(t, impl, kind) })
	}
}

func testOrder(t *testing.T, q queue.Interface[string]) {
	const keys = 200 // more than any initial capacity
	for i := range keys {
		q.Add(fmt.Sprint("key-", i))
	}
	got := takeAll(t, q)
	require.Equal(t, keys, len(got), "each key comes out once")
	for i, key := range got {
		require.Equal(t, fmt.Sprint("key-", i), key, "keys come out in the order in which they were added")
	}
}

func testCoalesce(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	q.Add("b")
	q.Add("a")
	q.Add("a")
	assert.Equal(t, 2, q.Len(), "a key that was added three times waits once")
	assert.Equal(t, []string{"a", "b"}, takeAll(t, q), "the key keeps its place")

	q.Add("a")
	assert.Equal(t, []string{"a"}, takeAll(t, q), "after Done it is a new key")
}

func testAddWhileProcessing(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	require.Equal(t, "a", take(t, q))

	q.Add("a")
	q.Add("a")
	assert.Zero(t, q.Len(), "the worker still holds the key, so Len does not count it")
	q.Add("b")
	q.Done("a")
	assert.Equal(t, []string{"b", "a"}, takeAll(t, q), "the key is queued once, at the end")
}

func testEmptyKey(t *testing.T, q queue.Interface[string]) {
	q.Add("")
	require.Equal(t, 1, q.Len(), "the empty key is queued like any other")
	assert.Equal(t, "", take(t, q))
	q.Add("")
	assert.Zero(t, q.Len(), "the worker still holds the key")
	q.Done("")
	assert.Equal(t, []string{""}, takeAll(t, q))
}

func testGetWaits(t *testing.T, q queue.Interface[string]) {
	got := takeAsync(q)
	pass(time.Hour)
	require.Empty(t, got, "Get returned from an empty queue")
	q.Add("a")
	waitIdle()
	require.Equal(t, 1, len(got), "Add did not wake the worker that waits in Get")
	assert.Equal(t, answer{"a", false}, <-got)
}

// testGetWaitsOn: a queue may wake the workers in Get for another reason than a key.
func testGetWaitsOn(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	got := takeAsync(q)
	waitIdle()
	q.Done("a")
	waitIdle()
	require.Zero(t, len(got), "Get returned although no key is queued, and the queue is not shut down")
	q.Add("b")
	waitIdle()
	require.Equal(t, 1, len(got), "Add did not wake the worker that waits in Get")
	assert.Equal(t, answer{"b", false}, <-got)
}

func testWakesWorkers(t *testing.T, q queue.Interface[string]) {
	const workers = 5
	got := make(chan string, workers)
	for range workers {
		go func() {
			key, _ := q.Get()
			got <- key
		}()
	}
	waitIdle()
	for i := range 3 {
		q.Add(fmt.Sprint("early-", i))
	}
	waitIdle()
	assert.Equal(t, 3, len(got), "three keys wake three workers, without a Done")
	for i := range 2 {
		q.Add(fmt.Sprint("late-", i))
		waitIdle()
		assert.Equal(t, 4+i, len(got), "one more key wakes one more worker")
	}
}

func testDoneWakes(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	q.Add("a")
	got := takeAsync(q)
	waitIdle()
	require.Empty(t, got, "the first worker still holds the key")
	q.Done("a")
	waitIdle()
	require.Equal(t, 1, len(got), "a worker sleeps in Get although a key is queued")
	assert.Equal(t, answer{"a", false}, <-got)
}

func testLen(t *testing.T, q queue.Interface[string]) {
	assert.Zero(t, q.Len(), "a new queue is empty")
	q.Add("a")
	q.Add("b")
	assert.Equal(t, 2, q.Len(), "two keys wait")
	take(t, q)
	assert.Equal(t, 1, q.Len(), "a key with a worker does not count")
	q.Add("a")
	assert.Equal(t, 1, q.Len(), "a key that was added again does not count before Done")
	q.Done("a")
	assert.Equal(t, 2, q.Len(), "Done queues the key that was added again")
	take(t, q)
	take(t, q)
	q.Done("a")
	q.Done("b")
	assert.Zero(t, q.Len(), "all keys are with workers or gone")
}

// testPool runs producers and workers. No key is with two workers at once, and each key is handed
// out at least once after its last Add.
func testPool(t *testing.T, q queue.Interface[string]) {
	var mu sync.Mutex
	added, seen, busy := map[string]int{}, map[string]int{}, map[string]bool{}

	worker := func() {
		for {
			key, shutdown := q.Get()
			if shutdown {
				assert.True(t, q.ShuttingDown(), "Get reports a shutdown, but the queue is not shut down")
				return
			}
			mu.Lock()
			assert.False(t, busy[key], "two workers hold %s", key)
			busy[key] = true
			seen[key] = added[key]
			mu.Unlock()

			time.Sleep(3 * time.Millisecond)

			mu.Lock()
			busy[key] = false
			mu.Unlock()
			q.Done(key)
		}
	}
	var workers, producers sync.WaitGroup
	for range 10 {
		workers.Go(worker)
	}
	for p := range 50 {
		producers.Go(func() {
			for i := range 50 {
				key := fmt.Sprint("key-", (p+i)%70)
				mu.Lock()
				added[key]++
				mu.Unlock()
				q.Add(key)
				time.Sleep(time.Millisecond)
			}
		})
	}
	producers.Wait()
	q.ShutDown()
	workers.Wait()
	assert.Equal(t, added, seen, "the last worker of each key saw its final state")
}

func testDoneOfNothing(t *testing.T, q queue.Interface[string]) {
	q.Done("a")
	assert.Zero(t, q.Len(), "Done of a key that was never added does not queue it")
	q.Add("a")
	assert.Equal(t, []string{"a"}, takeAll(t, q))
	q.Done("a")
	assertEmpty(t, q, "a second Done does not add the key")
}

func testDoneOfNothingBesideMany(t *testing.T, q queue.Interface[string]) {
	var held []string
	for i := range 20 {
		held = append(held, fmt.Sprint("key-", i))
		q.Add(held[i])
		q.Get()
	}
	q.Done("unknown")
	for _, key := range held {
		q.Add(key)
	}
	assert.Zero(t, q.Len(), "each key is still with its worker")
}

func testDoneWithoutGet(t *testing.T, q queue.Interface[string], ignored bool) {
	q.Add("a")
	q.Done("a")
	if !ignored {
		require.Equal(t, 2, q.Len(), "the key is queued twice")
		assert.Equal(t, "a", take(t, q))
		assert.Equal(t, "a", take(t, q), "two workers hold the key")
		return
	}
	require.Equal(t, 1, q.Len(), "Done of a queued key changes nothing: no worker holds it")
	assert.Equal(t, "a", take(t, q))
	assertEmpty(t, q, "the key was queued once")
}
