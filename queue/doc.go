// Package queue is the work queue of a controller: event handlers add keys, workers take them.
//
// "The article" is the one on the controller manager, named in docs/learn/mechanisms.md.
// "Textbook" is the form that follows it: this package. Package fast has the optimized form.
//
// # Concept
//
// A controller does not process events. An event only says "look at this object again"; the worker
// then reads the object's present state. So the queue holds keys, not objects, and a key that is
// already queued need not be queued twice: ten events about one object are one piece of work. Two
// things must never happen:
//
//   - an event that arrives while a worker is looking is lost;
//   - two workers look at the same object at once.
//
// Two sets and an order guarantee this. A key is dirty if it needs processing, and processing if a
// worker holds it:
//
//	            dirty?  processing?   where it is
//	Add          yes       no         in the queue, waiting
//	Get          no        yes        with a worker
//	Add again    yes       yes        with a worker, to be looked at again
//	Done         yes       no         in the queue (it was added again)
//	Done         no        no         gone
//
// The workers are goroutines that do this until the queue is shut down:
//
//	for {
//		key, shutdown := q.Get()
//		if shutdown {
//			return
//		}
//		if err := sync(key); err != nil {
//			q.AddRateLimited(key) // retry later, with a growing delay
//		} else {
//			q.Forget(key) // the next failure is a first one
//		}
//		q.Done(key)
//	}
//
// There are three kinds of queues, each extending the one before, on a page each: [Queue]
// (queue.go), [DelayingQueue] with AddAfter (delaying.go), and [RateLimitingQueue] with
// AddRateLimited, which asks a [RateLimiter] (ratelimiters.go) for the delay of a failed key.
//
// A page can be taken out and rebuilt: no other file touches its private fields. delaying.go builds
// on queue.go by the methods init, addLocked, beginShutDown, drain and snapshotLocked.
//
// [Interface] names the guarantees, who runs what, and what happens on failure.
//
// # Testing
//
// queuetest has the guarantees as tests, which both forms pass, and names the differences from
// client-go. In a testing/synctest bubble a delay of an hour is exact and takes no time.
//
// Next: package deltafifo
package queue
