package informer

import (
	"sync"
)

// coalescingPipe is a [pipe] in which at most one event waits for each object. What happens to an object that has one
// already is merged into it (see merge), and the object keeps its place: the order is that of the first event of each.
//
// The consumer takes one event at a time. From then on the next event of that object begins a new entry, which cannot be
// taken before the handler has returned: it is one goroutine. So the return of the handler is the acknowledgement, and
// nothing has to be said to that end.
//
// Invariant: byKey holds the entries of the list, each under its key, except those of the mark behind the initial list.
type coalescingPipe[T any] struct {
	mu       sync.Mutex
	wake     sync.Cond // on mu; signalled when sleeping and there is something to do
	byKey    map[string]*entry[T]
	list     entry[T]  // the ends of the list: next is the oldest entry, previous the newest
	spare    *entry[T] // entries that were used, linked by next
	spares   int
	sleeping bool // the consumer waits on wake
	finished bool // nothing more is taken in
}

// entry is an event that waits, in a list in which it can be found and taken out of the middle.
type entry[T any] struct {
	event          notification[T]
	previous, next *entry[T]
}

// keepEntries is how many used entries are kept for new ones. After a great lag the rest is garbage.
const keepEntries = 1024

func newCoalescingPipe[T any]() *coalescingPipe[T] {
	p := &coalescingPipe[T]{byKey: map[string]*entry[T]{}}
	p.list.previous, p.list.next = &p.list, &p.list
	p.wake.L = &p.mu
	return p
}

func (p *coalescingPipe[T]) add(batch []notification[T]) (a added) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return a
	}
	for i := range batch {
		a.merged += p.addLocked(&batch[i])
	}
	p.wakeLocked()
	return a
}

func (p *coalescingPipe[T]) addLocked(n *notification[T]) (merged int) {
	if n.kind == eventSynced {
		p.appendLocked(n) // what is before it stays before it
		return 0
	}
	e := p.byKey[n.key]
	if e == nil {
		p.byKey[n.key] = p.appendLocked(n)
		return 0
	}
	e.event = merge(&e.event, n)
	if e.event.kind != nothingHappened {
		return 1
	}
	p.removeLocked(e)
	return 2
}

func (p *coalescingPipe[T]) appendLocked(n *notification[T]) *entry[T] {
	e := p.spare
	if e != nil {
		p.spare, p.spares = e.next, p.spares-1
	} else {
		e = new(entry[T])
	}
	e.event = *n
	e.previous, e.next = p.list.previous, &p.list
	e.previous.next, e.next.previous = e, e
	return e
}

func (p *coalescingPipe[T]) removeLocked(e *entry[T]) {
	if e.event.kind != eventSynced {
		delete(p.byKey, e.event.key)
	}
	e.previous.next, e.next.previous = e.next, e.previous
	*e = entry[T]{}
	if p.spares < keepEntries {
		e.next, p.spare = p.spare, e
		p.spares++
	}
}

func (p *coalescingPipe[T]) run(deliver func(n *notification[T])) {
	var n notification[T] // one for all events: deliver only borrows it
	for p.next(&n) {
		deliver(&n)
	}
}

// next takes the oldest event. It blocks while there is none, and returns false if there is not going to be any.
func (p *coalescingPipe[T]) next(n *notification[T]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	*n = notification[T]{} // what was handled must be collectable while nothing comes
	for p.list.next == &p.list {
		if p.finished {
			return false
		}
		p.sleeping = true
		p.wake.Wait()
	}
	oldest := p.list.next
	*n = oldest.event
	p.removeLocked(oldest)
	return true
}

// release has nothing to do: add does not wait.
func (p *coalescingPipe[T]) release() {}

func (p *coalescingPipe[T]) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
	p.wakeLocked()
}

func (p *coalescingPipe[T]) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
	p.byKey, p.spare = nil, nil
	p.list.previous, p.list.next = &p.list, &p.list
	p.wakeLocked()
}

func (p *coalescingPipe[T]) wakeLocked() {
	if p.sleeping {
		p.sleeping = false
		p.wake.Signal()
	}
}
