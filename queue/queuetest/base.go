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
	scenario("the empty key is a key", testEmptyKey)
	scenario("a key added while a worker holds it comes again after Done", testAddWhileProcessing)
	scenario("Get waits for a key", testGetWaits)
	scenario("each key wakes a worker", testWakesWorkers)
	scenario("Done of a key that was added again wakes a worker", testDoneWakes)
	scenario("Len counts what waits", testLen)
	scenario("many producers and workers", testPool)
	scenario("Done of a key that nobody knows", testDoneOfNothing)
	scenario("Done of a key that nobody knows, beside many that workers hold", testDoneOfNothingBesideMany)
	scenario("Done of a key that waits", func(t *testing.T, q queue.Interface[string]) {
		testDoneWithoutGet(t, q, impl.has(IgnoresUnknownDone))
	})

	runShutDown(t, impl, kind)
	if kind.delays {
		t.Run("properties", func(t *testing.T) { testProperties(t, impl, kind) })
		t.Run("linearizability", func(t *testing.T) { testLinearizability(t, impl, kind) })
	}
}

func testOrder(t *testing.T, q queue.Interface[string]) {
	var want []string
	for i := range 200 { // more than any initial capacity
		want = append(want, fmt.Sprint("key-", i))
		q.Add(want[i])
	}
	assert.Equal(t, want, takeAll(t, q))
}

func testCoalesce(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	q.Add("b")
	q.Add("a")
	q.Add("a")
	assert.Equal(t, 2, q.Len())
	assert.Equal(t, []string{"a", "b"}, takeAll(t, q), "and it keeps its place")

	q.Add("a")
	assert.Equal(t, []string{"a"}, takeAll(t, q), "after Done it is a new key")
}

func testEmptyKey(t *testing.T, q queue.Interface[string]) {
	q.Add("")
	require.Equal(t, 1, q.Len())
	assert.Equal(t, "", take(t, q))
	q.Add("")
	assert.Zero(t, q.Len())
	q.Done("")
	assert.Equal(t, []string{""}, takeAll(t, q))
}

func testAddWhileProcessing(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	require.Equal(t, "a", take(t, q))

	q.Add("a")
	q.Add("a")
	assert.Zero(t, q.Len(), "the worker still holds it")
	q.Add("b")
	q.Done("a")
	assert.Equal(t, []string{"b", "a"}, takeAll(t, q), "it comes once, and waits behind what came before Done")
}

func testGetWaits(t *testing.T, q queue.Interface[string]) {
	got := takeAsync(q)
	pass(time.Hour)
	require.Empty(t, got, "Get returned from an empty queue")
	q.Add("a")
	settle()
	require.Len(t, got, 1)
	assert.Equal(t, answer{"a", false}, <-got)
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
	settle()
	for i := range 3 {
		q.Add(fmt.Sprint("early-", i))
	}
	settle()
	assert.Len(t, got, 3, "three keys, three workers: nobody has to call Done first")
	for i := range 2 {
		q.Add(fmt.Sprint("late-", i))
		settle()
		assert.Len(t, got, 4+i)
	}
}

func testDoneWakes(t *testing.T, q queue.Interface[string]) {
	q.Add("a")
	take(t, q)
	q.Add("a")
	got := takeAsync(q)
	settle()
	require.Empty(t, got, "the first worker still holds it")
	q.Done("a")
	settle()
	require.Len(t, got, 1, "a worker sleeps in Get although a key waits")
	assert.Equal(t, answer{"a", false}, <-got)
}

func testLen(t *testing.T, q queue.Interface[string]) {
	assert.Zero(t, q.Len())
	q.Add("a")
	q.Add("b")
	assert.Equal(t, 2, q.Len())
	take(t, q)
	assert.Equal(t, 1, q.Len(), "a key with a worker does not wait")
	q.Add("a")
	assert.Equal(t, 1, q.Len())
	q.Done("a")
	assert.Equal(t, 2, q.Len())
	take(t, q)
	take(t, q)
	q.Done("a")
	q.Done("b")
	assert.Zero(t, q.Len())
}

// testPool is the work queue at its work: no key is at two workers at once, and
// each key is handed out at least once after it was added for the last time.
func testPool(t *testing.T, q queue.Interface[string]) {
	var mu sync.Mutex
	added, seen, busy := map[string]int{}, map[string]int{}, map[string]bool{}

	worker := func() {
		for {
			key, shutdown := q.Get()
			if shutdown {
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
	assert.Equal(t, added, seen, "what a key's last worker saw is what was there in the end")
}

func testDoneOfNothing(t *testing.T, q queue.Interface[string]) {
	q.Done("a")
	assert.Zero(t, q.Len())
	q.Add("a")
	assert.Equal(t, []string{"a"}, takeAll(t, q))
	q.Done("a")
	assertEmpty(t, q, "a second Done is no Add")
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
	assert.Zero(t, q.Len(), "each of them is still with its worker")
}

func testDoneWithoutGet(t *testing.T, q queue.Interface[string], ignored bool) {
	q.Add("a")
	q.Done("a")
	if !ignored {
		require.Equal(t, 2, q.Len(), "the key waits twice")
		assert.Equal(t, "a", take(t, q))
		assert.Equal(t, "a", take(t, q), "and is with two workers at once")
		return
	}
	require.Equal(t, 1, q.Len())
	assert.Equal(t, "a", take(t, q))
	assertEmpty(t, q, "the key waited once")
}
