package fast

import (
	"sync"

	"orrery/informer"
)

// The waiting events of a handler can be merged into one per object, with the same effect. A
// handler must cope with such a history anyway: it looks like a watch that was down. Intermediate
// states are skipped, a deletion and re-creation is an update, and an object that was created and
// deleted never existed. If it replaced another object, only the deletion of that one is delivered,
// with its final state unknown.

// nothingHappened marks an entry whose object was created and deleted.
const nothingHappened informer.EventKind = 0

// merge returns an event with the effect of a and then b, which are of the same key. Its old state,
// also in a deletion, is the one before a.
func merge[T any](a, b *informer.Notification[T]) informer.Notification[T] {
	out := *b
	out.Old, out.Initial, out.Sync = a.Old, a.Initial, a.Sync && b.Sync
	existed := a.Kind == informer.EventUpdate || a.Kind == informer.EventDelete
	exists := b.Kind != informer.EventDelete
	switch {
	case existed && exists:
		out.Kind = informer.EventUpdate
	case existed:
		out.Kind = informer.EventDelete
		if isAnother(a.Old, b.New) {
			// The deleted object replaced the one that the handler knows. Report the end of the
			// known one, which the handler may track by UID.
			out.New, out.FinalStateUnknown = a.Old, true
		}
	case exists:
		out.Kind = informer.EventAdd
	default:
		out.Kind = nothingHappened
	}
	return out
}

// isAnother reports whether two states under one key are of different objects. Objects without a
// UID count as the same.
func isAnother[T any](reported, gone T) bool {
	type identified interface{ GetUID() string }
	x, known := any(reported).(identified)
	if !known {
		return false
	}
	y := any(gone).(identified)
	return x.GetUID() != y.GetUID()
}

// coalescingQueue is a [deliveryQueue] with at most one waiting event per object. Further events of
// an object are merged into it (see merge) in its place: the order follows the first event of
// each object.
//
// The consumer takes one event at a time. From then on the next event of that object begins a new
// entry, which cannot be taken before the handler has returned, because one goroutine calls it.
//
// Invariant: byKey holds the entries of the list, each under its key, except marks.
type coalescingQueue[T any] struct {
	mu      sync.Mutex
	wake    sync.Cond // on mu; signalled when an event waits or the queue has ended
	byKey   map[string]*entry[T]
	list    entry[T] // the ends of the list: next is the oldest entry, previous the newest
	stopped bool     // add is a no-op
}

// entry is a waiting event in a doubly linked list.
type entry[T any] struct {
	event          informer.Notification[T]
	previous, next *entry[T]
}

func newCoalescingQueue[T any]() *coalescingQueue[T] {
	q := &coalescingQueue[T]{byKey: map[string]*entry[T]{}}
	q.list.previous, q.list.next = &q.list, &q.list
	q.wake.L = &q.mu
	return q
}

func (q *coalescingQueue[T]) add(batch []informer.Notification[T]) (merged int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return 0
	}
	for i := range batch {
		merged += q.addLocked(&batch[i])
	}
	q.wake.Signal()
	return merged
}

func (q *coalescingQueue[T]) addLocked(n *informer.Notification[T]) (merged int) {
	if n.Kind == informer.EventSynced {
		q.appendLocked(n) // events before the mark stay before it
		return 0
	}
	e := q.byKey[n.Key]
	if e == nil {
		q.byKey[n.Key] = q.appendLocked(n)
		return 0
	}
	e.event = merge(&e.event, n)
	if e.event.Kind != nothingHappened {
		return 1
	}
	q.removeLocked(e)
	return 2
}

func (q *coalescingQueue[T]) appendLocked(n *informer.Notification[T]) *entry[T] {
	e := &entry[T]{event: *n, previous: q.list.previous, next: &q.list}
	e.previous.next, e.next.previous = e, e
	return e
}

func (q *coalescingQueue[T]) removeLocked(e *entry[T]) {
	if e.event.Kind != informer.EventSynced {
		delete(q.byKey, e.event.Key)
	}
	e.previous.next, e.next.previous = e.next, e.previous
}

func (q *coalescingQueue[T]) run(handler caller[T]) {
	var n informer.Notification[T] // reused: Call only borrows it
	for q.next(&n) {
		handler.Call(&n)
	}
}

// next takes the oldest event. It blocks while there is none, and returns false when the queue has
// ended.
func (q *coalescingQueue[T]) next(n *informer.Notification[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	*n = informer.Notification[T]{} // for the garbage collector
	for q.list.next == &q.list {
		if q.stopped {
			return false
		}
		q.wake.Wait()
	}
	oldest := q.list.next
	*n = oldest.event
	q.removeLocked(oldest)
	return true
}

func (q *coalescingQueue[T]) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.byKey = nil
	q.list.previous, q.list.next = &q.list, &q.list
	q.wake.Signal()
}
