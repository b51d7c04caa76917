package queuetest

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

func runBase(t *testing.T, impl Implementation, kind kind) {
	runScripts(t, impl, kind.make, baseScripts)
	runScripts(t, impl, kind.make, kind.shutDownScripts())
	if kind.delays {
		t.Run("properties", func(t *testing.T) { testProperties(t, impl, kind) })
		t.Run("linearizability", func(t *testing.T) { testLinearizability(t, impl, kind) })
	}
}

var baseScripts = []script[queue.Interface[string]]{
	{name: "first in, first out", test: testOrder},
	{name: "a key waits at most once", calls: `
		add a; add b; add a; add a; len 2 -- a key that was added three times waits once
		take a b -- the key keeps its place
		add a; take a -- after Done it is a new key`},
	{name: "a key added while a worker holds it comes again after Done", calls: `
		add a; get a; add a; add a; len 0 -- the worker still holds the key, so Len does not count it
		add b; done a; take b a -- the key is queued once, at the end`},
	{name: "the empty key is a key", calls: `
		add ''; len 1; get '' -- the empty key is queued like any other
		add ''; len 0 -- the worker still holds the key
		done ''; take '' -- the key is queued once`},
	{name: "Get waits for a key", calls: `
		wait; pass 1h; woken -- Get returned from an empty queue
		add a; woken a -- Add did not wake the worker that waits in Get`},
	{name: "Get waits on while no key is queued", test: testTakenKey},
	{name: "each key wakes a worker", calls: `
		wait 5; add a; add b; add c; woken a b c -- three keys wake three workers, without a Done
		add d; woken d; add e; woken e -- one more key wakes one more worker`},
	{name: "Done of a key that was added again wakes a worker", calls: `
		add a; get a; add a; wait; woken -- the first worker still holds the key
		done a; woken a -- a worker sleeps in Get although a key is queued`},
	{name: "Len counts what waits", calls: `
		len 0 -- a new queue is empty
		add a; add b; len 2 -- two keys wait
		get a; len 1 -- a key with a worker does not count
		add a; len 1 -- a key that was added again does not count before Done
		done a; len 2 -- Done queues the key that was added again
		get b; get a; done a; done b; len 0 -- all keys are with workers or gone`},
	{name: "many producers and workers", test: testPool},
	{name: "Done of an unknown key", calls: `
		done a; len 0 -- Done of a key that was never added does not queue it
		add a; take a
		done a; take -- a second Done does not add the key`},
	{name: "Done of an unknown key while workers hold many", calls: `
		add a; get a; add b; get b; add c; get c; done unknown
		add a; add b; add c; len 0 -- each key is still with its worker`},
	{name: "Done of a key that waits (issue 141079)", needs: IgnoresUnknownDone, calls: `
		add a; done a; len 1 -- Done of a queued key changes nothing: no worker holds it
		get a; idle; len 0 -- the key was queued once`,
		lacking: `
		add a; done a; len 2 -- the key is queued twice
		get a; get a -- two workers hold the key`},
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

// testTakenKey lets a caller of Get take the key for which a worker was woken, before the worker
// runs.
func testTakenKey(t *testing.T, q queue.Interface[string]) {
	for range 100 {
		var woken string
		var worker sync.WaitGroup
		worker.Go(func() {
			woken, _ = q.Get()
		})
		synctest.Wait() // the worker waits in Get
		time.AfterFunc(time.Second, func() { q.Add("b") })
		q.Add("a")
		taken, _ := q.Get() // usually "a": the worker has hardly begun to run
		worker.Wait()

		require.ElementsMatch(t, []string{"a", "b"}, []string{taken, woken},
			"a worker returned from Get although no key is queued, and the queue is not shut down")
		q.Done("a")
		q.Done("b")
	}
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
