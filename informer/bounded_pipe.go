package informer

import (
	"sync"
	"sync/atomic"
	"time"
)

// boundedPipe is a [pipe] with room for a fixed number of events: a ring that the producer fills, and waits for when it
// is full.
//
// The consumer lends events out of the ring and gives their slots back in portions of up to half of it, so that neither
// side wakes the other for each event: while the consumer works on one half the producer fills the other.
type boundedPipe[T any] struct {
	// stopped is read before each delivery, without the lock.
	stopped atomic.Bool

	mu   sync.Mutex
	wake sync.Cond // on mu; the consumer waits for events
	room sync.Cond // on mu; the producer waits for slots
	// slots is the ring. count of them, from first on, are taken; those that the consumer has in hand come first, and are
	// its own until it gives them back.
	slots        []notification[T]
	first, count int
	inHand       int
	// beyond is what came after release and found the ring full.
	beyond   []notification[T]
	sleeping bool // the consumer waits on wake
	released bool // the producer does not wait any more
	finished bool // nothing more is taken in
}

func newBoundedPipe[T any](capacity int) *boundedPipe[T] {
	if capacity <= 0 {
		capacity = DefaultCapacity
	}
	p := &boundedPipe[T]{slots: make([]notification[T], capacity)}
	p.wake.L, p.room.L = &p.mu, &p.mu
	return p
}

func (p *boundedPipe[T]) add(batch []notification[T]) (a added) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(batch) > 0 {
		if p.count == len(p.slots) && !p.released {
			a.waited += p.waitLocked()
		}
		switch {
		case p.finished:
			return a
		case p.count == len(p.slots) || len(p.beyond) > 0:
			p.beyond = append(p.beyond, batch...)
			batch = nil
		default:
			batch = batch[p.fillLocked(batch):]
		}
		if p.sleeping {
			p.sleeping = false
			p.wake.Signal()
		}
	}
	return a
}

// waitLocked waits for a free slot, or for the end of waiting.
func (p *boundedPipe[T]) waitLocked() time.Duration {
	began := time.Now()
	for p.count == len(p.slots) && !p.released {
		p.room.Wait()
	}
	return time.Since(began)
}

// fillLocked copies events into free slots that are next to each other and returns how many.
func (p *boundedPipe[T]) fillLocked(batch []notification[T]) int {
	from := (p.first + p.count) % len(p.slots)
	to := min(from+len(p.slots)-p.count, len(p.slots))
	n := copy(p.slots[from:to], batch)
	p.count += n
	return n
}

func (p *boundedPipe[T]) run(deliver func(n *notification[T])) {
	for portion := p.next(); portion != nil; portion = p.next() {
		for i := range portion {
			if p.stopped.Load() {
				return
			}
			deliver(&portion[i])
			portion[i] = notification[T]{} // what was handled must be collectable
		}
	}
}

// next gives back what the consumer has in hand and takes what waits, up to half of the ring. It blocks while there is
// nothing, and returns nil if there is not going to be anything.
func (p *boundedPipe[T]) next() []notification[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.first = (p.first + p.inHand) % len(p.slots)
	p.count -= p.inHand
	p.inHand = 0
	p.room.Signal()
	for p.count == 0 {
		if len(p.beyond) > 0 {
			portion := p.beyond
			p.beyond = nil
			return portion
		}
		if p.finished {
			return nil
		}
		p.sleeping = true
		p.wake.Wait()
	}
	p.inHand = min(p.count, max(len(p.slots)/2, 1), len(p.slots)-p.first)
	return p.slots[p.first : p.first+p.inHand]
}

func (p *boundedPipe[T]) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released = true
	p.room.Signal()
}

func (p *boundedPipe[T]) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finishLocked()
}

func (p *boundedPipe[T]) stop() {
	p.stopped.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finishLocked()
	p.count, p.beyond = p.inHand, nil
	clear(p.slots[:p.first])
	clear(p.slots[p.first+p.inHand:])
}

func (p *boundedPipe[T]) finishLocked() {
	p.finished, p.released = true, true
	p.room.Signal()
	p.sleeping = false
	p.wake.Signal()
}
