// Package queue is the work queue of a controller: event handlers put keys in,
// workers take them out.
//
// "The article" is the one on the controller manager, named in docs/mechanisms.md.
// "Textbook" is the form that follows it: this package. Package fast has the optimized form.
//
// # Concept
//
// A controller does not process events. An event only says "look at this object
// again"; the worker then reads the object as it is by now. So the queue holds
// keys, not objects, and a key that is in it need not be put in once more: ten
// events about one object are one piece of work. Two things must never happen: that
// an event which arrives while a worker is looking is lost, and that two workers
// look at the same object at once.
//
// Two sets and an order do all that. A key is dirty if it needs processing, and
// processing if a worker holds it:
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
//			q.AddRateLimited(key) // not now: the longer, the more often it failed
//		} else {
//			q.Forget(key) // the next failure is a first one
//		}
//		q.Done(key)
//	}
//
// There are three kinds of queues, each of which is the one before and more, on a
// page each: [Queue] (queue.go), [DelayingQueue] with AddAfter (delaying.go),
// [RateLimitingQueue] with AddRateLimited. A [RateLimiter] tells the last one how
// long a key that failed has to wait; the limiters of Kubernetes are all in
// ratelimiters.go, and can be combined. What both forms share is in config.go,
// trace.go and metrics.go.
//
// A page can be taken out and rebuilt: no other file touches its private fields.
// delaying.go builds on queue.go by the methods init, addLocked, beginShutDown, drain
// and snapshotLocked.
//
// # Guarantees
//
//   - A key waits at most once. A key is with one worker at most.
//   - Whatever happened before an Add is seen by a worker: the key is handed
//     out at least once after it (unless the queue was shut down before).
//   - Keys are handed out in the order in which they began to wait.
//   - A key has one delay at most. Of two, the one that ends earlier wins; Add
//     cancels it. A delay never ends early. Equal ones end in the order of AddAfter.
//   - After ShutDown nothing new comes in, what waits is still handed out, and delays are
//     dropped. ShutDownWithDrain waits until all that is done.
//   - Done of a key that no worker holds changes nothing.
//   - Only Get and ShutDownWithDrain block.
//   - A queue forgets a key when it is done with it.
//   - Hooks of a [Trace] run without the lock and may call the queue.
//     Metrics, see [MetricsProvider], are made with a trace.
//
// queuetest has all this as tests, which both forms pass, and names where the
// client-go differs.
//
// # Goroutines
//
// A queue starts none, with one exception: when delays end, a timer runs a
// function in a goroutine that hands over the keys and ends. ShutDown stops the
// timer. (A function that had begun by then finds nothing to do.) Workers and
// calls of UpdateMetrics belong to the caller; ShutDown makes the workers'
// Get return.
//
// # Failure
//
// A key that is never given back with Done is processing for ever: it is not
// handed out again and ShutDownWithDrain does not return until ShutDown is
// called. The gauge workqueue_longest_running_processor_seconds shows it, and
// so does Snapshot. A worker that may panic calls Done in a deferred function.
//
// A key for which Forget is never called stays in the limiter's memory.
//
// An Add cancels a key's back-off: the key is processed at once, and a failure then
// still raises its count (kubernetes/kubernetes#136853).
//
// # Testing
//
// The queue uses package time and sync.Cond only, so in a testing/synctest
// bubble a delay of an hour takes no time and is exact. Programs that need a
// queue with other properties run queuetest.Run against theirs.
//
// Next: package deltafifo
package queue
