package fast

import (
	"sync"
	"sync/atomic"

	"orrery/informer"
)

// deliveryQueue holds the waiting events of one handler.
//
// One producer at a time calls add. The goroutine of the handler is in run. Any goroutine may call
// stop, more than once.
type deliveryQueue[T any] interface {
	// add appends events and returns how many of them were merged. The slice is shared and
	// immutable; the queue may keep it. add never waits for the handler. After stop it is a no-op.
	add(batch []informer.Notification[T]) (merged int)
	// run passes each event to the handler, in order, until the queue has been stopped.
	run(handler caller[T])
	// stop makes run return after the present delivery. Waiting events are dropped.
	stop()
}

// caller is an [informer.RegisteredHandler].
type caller[T any] interface {
	Call(n *informer.Notification[T])
}

// newDeliveryQueue returns a new queue for a handler with these options and initial content.
func newDeliveryQueue[T any](opts informer.HandlerOptions, coalescing bool,
	initial []informer.Notification[T]) deliveryQueue[T] {
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
// A batch is shared by all listeners and never changes, so it costs a listener one slice header,
// however many events it has, and events that wait for several slow handlers are in memory once.
// The consumer takes all batches under one lock and processes them without. While the handler is
// the slower side, no event costs a wake-up or a hand-off.
type batchQueue[T any] struct {
	// stopped is read before each delivery, without the lock.
	stopped atomic.Bool

	mu      sync.Mutex
	wake    sync.Cond // on mu; signalled when an event waits or the queue has ended
	waiting [][]informer.Notification[T]
}

func newBatchQueue[T any]() *batchQueue[T] {
	q := &batchQueue[T]{}
	q.wake.L = &q.mu
	return q
}

func (q *batchQueue[T]) add(batch []informer.Notification[T]) (merged int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.stopped.Load() {
		q.waiting = append(q.waiting, batch)
		q.wake.Signal()
	}
	return 0
}

func (q *batchQueue[T]) stop() {
	q.stopped.Store(true)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = nil
	q.wake.Signal()
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
			batches[i] = nil // for the garbage collector
		}
	}
}

// keepBatches bounds the list of batches that is reused. Otherwise a list would stay as long as the
// greatest lag.
const keepBatches = 256

// next takes all batches and leaves an empty list in their place. It blocks while there are none,
// and returns nil when the queue has ended.
func (q *batchQueue[T]) next(empty [][]informer.Notification[T]) [][]informer.Notification[T] {
	if cap(empty) > keepBatches {
		empty = nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 {
		if q.stopped.Load() {
			return nil
		}
		q.wake.Wait()
	}
	batches := q.waiting
	q.waiting = empty
	return batches
}
