package queue_test

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"orrery/queue"
)

// Event handlers add keys, a worker reconciles them. Three changes of "default/web" are one piece
// of work; a change while the worker is busy with it is another.
func Example() {
	q := queue.New(queue.Config[string]{})

	for _, key := range []string{"default/web", "default/db", "default/web", "default/web"} {
		q.Add(key) // in an event handler
	}

	var worker, looks sync.WaitGroup
	looks.Add(3)
	worker.Go(func() {
		first := true
		for {
			key, shutdown := q.Get()
			if shutdown {
				return
			}
			fmt.Println("look at", key)
			if first {
				q.Add(key) // another event in the meantime
				first = false
			}
			q.Done(key)
			looks.Done()
		}
	})

	looks.Wait()
	q.ShutDownWithDrain()
	worker.Wait()
	// Output:
	// look at default/web
	// look at default/db
	// look at default/web
}

// A worker that retries. The rate limiter decides the delay of each attempt.
func ExampleRateLimitingQueue() {
	limiter := queue.NewItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second)
	q := queue.NewRateLimiting(limiter, queue.Config[string]{
		Trace: &queue.Trace[string]{
			Retried: func(key string, requeues int, wait time.Duration) {
				fmt.Printf("%s failed %d times, waits %v\n", key, requeues, wait)
			},
		},
	})

	calls := 0
	sync := func(string) error {
		if calls++; calls < 4 {
			return errors.New("the server is busy")
		}
		return nil
	}

	q.Add("default/web")
	for {
		key, _ := q.Get()
		err := sync(key)
		if err != nil {
			q.AddRateLimited(key)
		} else {
			q.Forget(key)
		}
		q.Done(key)
		if err == nil {
			break
		}
	}
	fmt.Println("done, failures remembered:", q.NumRequeues("default/web"))
	q.ShutDown()
	// Output:
	// default/web failed 1 times, waits 1ms
	// default/web failed 2 times, waits 2ms
	// default/web failed 3 times, waits 4ms
	// done, failures remembered: 0
}

// Adding a key without a delay cancels its delay.
func ExampleDelayingQueue() {
	q := queue.NewDelaying(queue.Config[string]{})
	q.AddAfter("default/web", time.Hour)
	q.AddAfter("default/web", time.Minute) // the earlier one wins

	fmt.Println("wait for a worker:", q.Len())
	fmt.Println("wait for a delay: ", len(q.Snapshot().Delayed))

	q.Add("default/web")
	fmt.Println("wait for a worker:", q.Len())
	fmt.Println("wait for a delay: ", len(q.Snapshot().Delayed))
	q.ShutDown()
	// Output:
	// wait for a worker: 0
	// wait for a delay:  1
	// wait for a worker: 1
	// wait for a delay:  0
}

// A trace reports every event of the queue.
func ExampleTrace() {
	say := func(what string) func(queue.Event[string]) {
		return func(e queue.Event[string]) { fmt.Println(e.Seq, what, e.Key) }
	}
	q := queue.New(queue.Config[string]{Trace: &queue.Trace[string]{
		Added:     say("added"),
		Coalesced: say("coalesced"),
		Got:       func(e queue.Event[string], _ time.Duration) { fmt.Println(e.Seq, "got", e.Key) },
		Done:      func(e queue.Event[string], _ time.Duration) { fmt.Println(e.Seq, "done", e.Key) },
	}})
	q.Add("default/web")
	q.Add("default/web")
	key, _ := q.Get()
	q.Done(key)
	// Output:
	// 1 added default/web
	// 2 coalesced default/web
	// 3 got default/web
	// 4 done default/web
}
