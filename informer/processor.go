package informer

import (
	"fmt"
	"sync"
	"time"
)

// processor distributes events to the listeners of an informer (sharedProcessor in the article).
//
// Events are appended one by one, as the store takes them in, and handed out in batches when the informer has
// nothing better to do (flush). Handing out happens outside of all locks: with the channel-pair listener it is a
// channel operation.
//
// Invariants: a listener is given the events number joined, joined+1, ... (counted by accepted), each once, in
// order, except those that it does not want. There are no listeners after stop.
type processor[T any] struct {
	informer string
	trace    *Trace

	goroutines sync.WaitGroup // of the listeners, the removed ones included
	watching   sync.WaitGroup // the watchdog, if there is one
	unwatch    chan struct{}  // closed to end it

	mu sync.Mutex
	// listeners in the order of registration. The slice is never changed in place: flush uses it unlocked.
	listeners []*listener[T]
	lastID    uint64
	started   bool // listeners have goroutines
	stopped   bool // there are not going to be any more listeners
	released  bool // nobody waits for a handler any more
	// checkPeriod is how often the reflector asks whether a resync is due; 0 is never.
	checkPeriod time.Duration

	accepted uint64            // number of events that were ever appended
	waiting  []notification[T] // appended and not yet flushed
	lastSize int               // of the batch that was flushed last
	mixed    bool              // waiting contains events that are not for every listener, or the mark
	flushing bool              // somebody is in flush
	inFlight batch[T]          // what is being handed out
	flushed  sync.Cond         // on mu; broadcast when flushing has become false
	synced   bool              // eventSynced has been appended
}

// batch is what one round of flush hands out. The listeners share its events, which nobody changes.
type batch[T any] struct {
	events []notification[T]
	first  uint64 // the number of events[0]
	mixed  bool
}

// index is where the events begin that have that number or a greater one.
func (b *batch[T]) index(number uint64) int {
	if number <= b.first {
		return 0
	}
	return int(min(number-b.first, uint64(len(b.events))))
}

func newProcessor[T any](informer string, checkPeriod time.Duration, trace *Trace) *processor[T] {
	p := &processor[T]{informer: informer, checkPeriod: checkPeriod, trace: trace, unwatch: make(chan struct{})}
	p.flushed.L = &p.mu
	return p
}

// append queues an event for all listeners and returns how many events wait for a flush. It is cheap and does
// not block; the caller holds blockDeltas, which orders it against the store and against join.
func (p *processor[T]) append(n notification[T]) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.listeners) == 0 || n.sync && !p.anyDueLocked() {
		return len(p.waiting)
	}
	p.appendLocked(n)
	return len(p.waiting)
}

// appendSynced queues the mark behind the initial list.
func (p *processor[T]) appendSynced() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.synced = true
	p.appendLocked(notification[T]{kind: eventSynced})
}

func (p *processor[T]) appendLocked(n notification[T]) {
	if p.waiting == nil {
		// Batches are of similar size as long as the load is: while it is low a batch is one event.
		p.waiting = make([]notification[T], 0, max(p.lastSize, 1))
	}
	p.waiting = append(p.waiting, n)
	p.accepted++
	p.mixed = p.mixed || n.sync || n.kind == eventSynced
}

// flush hands out what waits and returns when that is done, whoever does it: the loop that feeds the processor must not
// run ahead of a handler for which a flush has to wait. It may be called from any goroutine.
func (p *processor[T]) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.flushing {
		p.flushed.Wait()
	}
	p.flushLocked()
}

// flushLocked returns with nothing waiting. In between it gives up the mutex.
func (p *processor[T]) flushLocked() {
	p.flushing = true
	defer func() {
		p.flushing, p.inFlight = false, batch[T]{}
		p.flushed.Broadcast()
	}()
	for len(p.waiting) > 0 {
		p.inFlight = p.waitingLocked()
		p.waiting, p.lastSize, p.mixed = nil, len(p.waiting), false
		p.distributeUnlocked(p.inFlight, p.listeners)
	}
}

// waitingLocked is what waits, as a batch.
func (p *processor[T]) waitingLocked() batch[T] {
	return batch[T]{events: p.waiting, first: p.accepted - uint64(len(p.waiting)), mixed: p.mixed}
}

// distributeUnlocked gives up the mutex while it works, and takes it again even if a trace hook panics.
func (p *processor[T]) distributeUnlocked(b batch[T], listeners []*listener[T]) {
	p.mu.Unlock()
	defer p.mu.Lock()
	p.distribute(b, listeners)
}

func (p *processor[T]) distribute(b batch[T], listeners []*listener[T]) {
	if p.trace != nil && p.trace.Distributed != nil {
		p.traceDistributed(b, listeners)
	}
	for _, l := range listeners {
		l.add(b)
	}
}

func (p *processor[T]) traceDistributed(b batch[T], listeners []*listener[T]) {
	for i := range b.events {
		n := &b.events[i]
		count := 0
		for _, l := range listeners {
			if i >= b.index(l.joined) && l.wants(n) {
				count++
			}
		}
		if n.kind != eventSynced {
			p.trace.Distributed(n.kind, n.key, count)
		}
	}
}

// start gives every listener its goroutine, now and in future.
func (p *processor[T]) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = true
	for _, l := range p.listeners {
		p.goroutines.Go(l.run)
	}
	if p.trace != nil && p.trace.HandlerStuck != nil {
		dog := watchdog[T]{processor: p, tell: p.trace.HandlerStuck, watched: map[*listener[T]]*watchedListener{}}
		p.watching.Go(func() { dog.run(p.unwatch) })
	}
}

// release makes the processor never again wait for a handler. It is called when the informer is told to end, which a
// full buffer must not prevent.
func (p *processor[T]) release() {
	p.mu.Lock()
	p.released = true
	listeners := p.listeners
	p.mu.Unlock()
	for _, l := range listeners {
		l.pipe.release()
	}
}

// stop ends all listeners and returns when their goroutines have ended. What waits is dropped.
func (p *processor[T]) stop() {
	p.mu.Lock()
	p.stopped = true
	listeners := p.listeners
	p.listeners = nil
	p.mu.Unlock()

	for _, l := range listeners {
		l.stop()
	}
	p.goroutines.Wait() // watched: a callback that does not return holds up the end
	close(p.unwatch)
	p.watching.Wait()
}

// shouldResync marks the listeners whose time has come and reports whether there are any. The reflector calls
// it every check period, just before it makes the store repeat every object.
func (p *processor[T]) shouldResync() bool {
	due := p.markDue(time.Now())
	if due > 0 && p.trace != nil && p.trace.ResyncDue != nil {
		p.trace.ResyncDue(p.informer, due)
	}
	return due > 0
}

func (p *processor[T]) markDue(now time.Time) (count int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		due := l.resync.due(now)
		l.due.Store(due)
		if due {
			count++
		}
	}
	return count
}

// resyncCheckPeriod returns how often the reflector has to ask shouldResync; 0 is never.
func (p *processor[T]) resyncCheckPeriod() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checkPeriod
}

func (p *processor[T]) anyDueLocked() bool {
	for _, l := range p.listeners {
		if l.due.Load() {
			return true
		}
	}
	return false
}

// checkLocked returns an error if an invariant does not hold. Tests call it.
func (p *processor[T]) checkLocked() error {
	if p.stopped && len(p.listeners) > 0 {
		return fmt.Errorf("%d listeners after the end", len(p.listeners))
	}
	if uint64(len(p.waiting)) > p.accepted {
		return fmt.Errorf("%d events wait, %d were accepted", len(p.waiting), p.accepted)
	}
	for _, l := range p.listeners {
		if l.joined > p.accepted {
			return fmt.Errorf("handler %d begins at event %d, there were %d", l.registration.info.ID, l.joined, p.accepted)
		}
	}
	return nil
}
