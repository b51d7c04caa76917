package informer

import (
	"sync"
	"sync/atomic"
)

// batchPipe is the default [pipe]: a list of batches under a mutex.
//
// A batch is shared by all listeners and never changes, so what a listener costs is one slice header a batch,
// however many events are in it, and events that wait for several slow handlers are in memory once. The consumer
// takes everything that waits under one lock and works on it without; the producer signals only a consumer that
// sleeps. While the handler is the slower side there is neither a wake-up nor a hand-off per event.
type batchPipe[T any] struct {
	compactAfter int // HandlerOptions.CompactAfter

	// stopped is read before each delivery, without the lock.
	stopped atomic.Bool

	mu       sync.Mutex
	wake     sync.Cond // on mu; signalled when sleeping and there is something to do
	waiting  [][]notification[T]
	events   int  // in waiting
	limit    int  // of events, beyond which they are merged
	sleeping bool // the consumer waits on wake
	finished bool // nothing more is taken in
}

func newBatchPipe[T any](compactAfter int) *batchPipe[T] {
	p := &batchPipe[T]{compactAfter: compactAfter, limit: compactAfter}
	p.wake.L = &p.mu
	return p
}

func (p *batchPipe[T]) add(batch []notification[T]) (a added) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return a
	}
	p.waiting = append(p.waiting, batch)
	p.events += len(batch)
	if p.compactAfter > 0 && p.events > p.limit {
		a.merged = p.compactLocked()
	}
	p.wakeLocked()
	return a
}

// compactLocked merges what waits. The next time is when it has doubled, so that the work for each event that comes
// in does not grow with what waits.
func (p *batchPipe[T]) compactLocked() (merged int) {
	before := p.events
	compacted := compact(p.waiting)
	p.waiting = [][]notification[T]{compacted}
	p.events = len(compacted)
	p.limit = max(p.compactAfter, 2*p.events)
	return before - p.events
}

// release has nothing to do: add does not wait.
func (p *batchPipe[T]) release() {}

func (p *batchPipe[T]) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
	p.wakeLocked()
}

func (p *batchPipe[T]) stop() {
	p.stopped.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
	p.waiting = nil
	p.wakeLocked()
}

func (p *batchPipe[T]) wakeLocked() {
	if p.sleeping {
		p.sleeping = false
		p.wake.Signal()
	}
}

func (p *batchPipe[T]) run(deliver func(n *notification[T])) {
	var batches [][]notification[T]
	for {
		if batches = p.next(batches[:0]); batches == nil {
			return
		}
		for i, batch := range batches {
			for j := range batch {
				if p.stopped.Load() {
					return
				}
				deliver(&batch[j])
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
func (p *batchPipe[T]) next(empty [][]notification[T]) [][]notification[T] {
	if cap(empty) > keepBatches {
		empty = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.waiting) == 0 {
		if p.finished {
			return nil
		}
		p.sleeping = true
		p.wake.Wait()
	}
	batches := p.waiting
	p.waiting, p.events, p.limit = empty, 0, p.compactAfter
	return batches
}
