package fast

import (
	"sync"
	"sync/atomic"

	"orrery/informer"
)

// deliveryQueue holds what waits for one handler.
//
// The producer, one at a time, calls add. The goroutine of the handler is in run. Any goroutine may call finish and stop, in
// any order and more than once.
type deliveryQueue[T any] interface {
	// add appends events and returns how many events wait fewer than that for having been merged. The slice is shared
	// and does not change any more; the queue may keep it. add never waits for the handler. After finish or stop it is
	// a no-op.
	add(batch []informer.Notification[T]) (merged int)
	// run lends each event to the handler, in order, until the queue has been stopped, or finished and emptied.
	run(handler caller[T])
	// finish closes the entrance: run returns when everything that was added has been delivered.
	finish()
	// stop closes both ends: run returns after the delivery that is going on. What waits is dropped.
	stop()
}

// caller is an [informer.RegisteredHandler].
type caller[T any] interface {
	Call(n *informer.Notification[T])
}

// newDeliveryQueue returns the queue for a handler with these options, which begins with its initial content.
func newDeliveryQueue[T any](opts informer.HandlerOptions, coalescing bool, initial []informer.Notification[T]) deliveryQueue[T] {
	if opts.Coalescing || coalescing {
		q := newCoalescingQueue[T]()
		q.add(initial)
		return q
	}
	q := newBatchQueue[T]()
	if len(initial) > 0 {
		q.waiting = append(q.waiting, initial)
	}
	return q
}

// batchQueue is the default [deliveryQueue]: a list of batches under a mutex.
//
// A batch is shared by all listeners and never changes, so what a listener costs is one slice header a batch,
// however many events are in it, and events that wait for several slow handlers are in memory once. The consumer
// takes everything that waits under one lock and works on it without; the producer signals only a consumer that
// sleeps. While the handler is the slower side there is neither a wake-up nor a hand-off per event.
type batchQueue[T any] struct {
	// stopped is read before each delivery, without the lock.
	stopped atomic.Bool

	mu       sync.Mutex
	wake     sync.Cond // on mu; signalled when sleeping and there is something to do
	waiting  [][]informer.Notification[T]
	sleeping bool // the consumer waits on wake
	finished bool // nothing more is taken in
}

func newBatchQueue[T any]() *batchQueue[T] {
	q := &batchQueue[T]{}
	q.wake.L = &q.mu
	return q
}

func (q *batchQueue[T]) add(batch []informer.Notification[T]) (merged int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.finished {
		q.waiting = append(q.waiting, batch)
		q.wakeLocked()
	}
	return 0
}

func (q *batchQueue[T]) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	q.wakeLocked()
}

func (q *batchQueue[T]) stop() {
	q.stopped.Store(true)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	q.waiting = nil
	q.wakeLocked()
}

func (q *batchQueue[T]) wakeLocked() {
	if q.sleeping {
		q.sleeping = false
		q.wake.Signal()
	}
}

func (q *batchQueue[T]) run(handler caller[T]) {
	var batches [][]informer.Notification[T]
	for {
		if batches = q.next(batches[:0]); batches == nil {
			return
		}
		for i, batch := range batches {
			for j := range batch {
				if q.stopped.Load() {
					return
				}
				handler.Call(&batch[j])
			}
			batches[i] = nil // what was handled must be collectable, however much there is left
		}
	}
}

// keepBatches is how long a list of batches may become and still be used again. After a handler has caught up with
// a great lag its list would otherwise stay as long as the lag was.
const keepBatches = 256

// next takes everything that waits and leaves an empty list in its place. It blocks while there is nothing, and
// returns nil if there is not going to be anything.
func (q *batchQueue[T]) next(empty [][]informer.Notification[T]) [][]informer.Notification[T] {
	if cap(empty) > keepBatches {
		empty = nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 {
		if q.finished {
			return nil
		}
		q.sleeping = true
		q.wake.Wait()
	}
	batches := q.waiting
	q.waiting = empty
	return batches
}
