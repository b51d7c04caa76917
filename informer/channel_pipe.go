package informer

import "sync"

// channelPipe is the listener of the article and of client-go as a [pipe]:
//
//	add -> addCh -> pop -> nextCh -> run -> handler
//	                 |
//	       pendingNotifications
//
// Both channels are unbuffered. pop is always ready to receive from addCh, which is why the handler cannot
// block the producer; what run is not ready for grows the ring.
//
// The original closes addCh to end pop, and drops what waits. Here add may run beside finish and stop, so the
// end is told on channels of its own and addCh is never closed.
type channelPipe[T any] struct {
	addCh  chan notification[T]
	nextCh chan notification[T]

	finishOnce sync.Once
	finishCh   chan struct{} // closed by finish and by stop
	stopOnce   sync.Once
	stopCh     chan struct{} // closed by stop

	// pendingNotifications belongs to pop.
	pendingNotifications ring[notification[T]]
}

func newChannelPipe[T any]() *channelPipe[T] {
	return &channelPipe[T]{
		addCh:    make(chan notification[T]),
		nextCh:   make(chan notification[T]),
		finishCh: make(chan struct{}),
		stopCh:   make(chan struct{}),
	}
}

func (p *channelPipe[T]) add(batch []notification[T]) added {
	for _, n := range batch {
		select {
		case p.addCh <- n:
		case <-p.finishCh:
			return added{}
		}
	}
	return added{}
}

// release has nothing to do: pop takes what run does not.
func (p *channelPipe[T]) release() {}

func (p *channelPipe[T]) finish() { p.finishOnce.Do(func() { close(p.finishCh) }) }

func (p *channelPipe[T]) stop() {
	p.finish()
	p.stopOnce.Do(func() { close(p.stopCh) })
}

// run starts pop and ends after it.
func (p *channelPipe[T]) run(deliver func(n *notification[T])) {
	go p.pop()
	var n notification[T] // one for all events: deliver only borrows it
	for n = range p.nextCh {
		if isClosed(p.stopCh) {
			continue // pop closes nextCh as soon as it has seen the stop
		}
		deliver(&n)
	}
}

// pop moves events from addCh to nextCh and parks in the ring what does not fit.
func (p *channelPipe[T]) pop() {
	defer close(p.nextCh) // tells run to return

	var (
		next     notification[T]
		nextCh   chan<- notification[T] // nil, and so never ready, while there is nothing to offer
		finishCh = p.finishCh
	)
	for {
		if finishCh == nil && nextCh == nil {
			return
		}
		select {
		case <-p.stopCh:
			return
		case nextCh <- next:
			var ok bool
			if next, ok = p.pendingNotifications.read(); !ok {
				nextCh = nil
			}
		case n := <-p.addCh:
			if nextCh == nil {
				next, nextCh = n, p.nextCh
			} else {
				p.pendingNotifications.write(n)
			}
		case <-finishCh:
			finishCh = nil
		}
	}
}
