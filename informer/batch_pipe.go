package informer

import (
	"sync"
	"sync/atomic"
)

// batchPipe is the default [pipe]: a backlog under a mutex.
//
// The consumer takes a chunk of events under one lock and works on it without; the producer signals only a
// consumer that sleeps. While the handler is the slower side there is neither a wake-up nor a hand-off per event.
type batchPipe[T any] struct {
	// stopped is read before each delivery, without the lock.
	stopped atomic.Bool

	mu       sync.Mutex
	wake     sync.Cond // on mu; signalled when sleeping and there is something to do
	waiting  backlog[notification[T]]
	sleeping bool // the consumer waits on wake
	finished bool // nothing more is taken in
}

func newBatchPipe[T any]() *batchPipe[T] {
	p := &batchPipe[T]{}
	p.wake.L = &p.mu
	return p
}

func (p *batchPipe[T]) add(batch []notification[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return
	}
	p.waiting.push(batch)
	p.wakeLocked()
}

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
	p.waiting.clear()
	p.wakeLocked()
}

func (p *batchPipe[T]) wakeLocked() {
	if p.sleeping {
		p.sleeping = false
		p.wake.Signal()
	}
}

func (p *batchPipe[T]) run(deliver func(n *notification[T])) {
	var zero notification[T]
	var done *chunk[notification[T]]
	for {
		c := p.next(done)
		if c == nil {
			return
		}
		for i := range c.slots[:c.count] {
			if p.stopped.Load() {
				return
			}
			deliver(&c.slots[i])
			c.slots[i] = zero // a handled object must be collectable at once
		}
		done = c
	}
}

// next gives back the chunk that is done and waits for another; nil if there is not going to be one.
func (p *batchPipe[T]) next(done *chunk[notification[T]]) *chunk[notification[T]] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done != nil {
		p.waiting.giveBack(done)
	}
	for p.waiting.empty() && !p.finished {
		p.sleeping = true
		p.wake.Wait()
	}
	return p.waiting.take()
}
