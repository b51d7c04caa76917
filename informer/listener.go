package informer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"orrery/wait"
)

// listener is one handler with the goroutine that calls it.
//
// It first works off the objects that the store held when the handler was added, read from a snapshot on its own
// goroutine, and then the pipe, into which the processor has been putting events since. The snapshot and the
// beginning of the stream were fixed in one critical section, so nothing is missing between them and nothing
// comes twice.
type listener[T any] struct {
	handler      ResourceEventHandler[T]
	registration *Registration
	trace        *Trace
	delivery     Delivery
	pipe         pipe[T]

	// joined is the number of events that the processor had accepted when the handler was added; those are in
	// the snapshot.
	joined uint64
	// initial is the snapshot, nil if there is nothing in it and when it has been told.
	initial *initialContent[T]
	// complete: the snapshot holds the whole initial list, no eventSynced is going to come.
	complete bool

	// feeding is held while events are put into the pipe, by a flush or by drain. A flush may wait for the handler
	// meanwhile.
	feeding sync.Mutex
	next    uint64 // the number of the first event that was not put into the pipe
	left    bool   // drain has put the last ones in

	// resync is guarded by the processor's mutex.
	resync resyncSchedule
	// due: the handler takes part in the resync that is going on.
	due atomic.Bool

	stopped atomic.Bool
	added   atomic.Uint64 // events that were meant for the handler, the snapshot included, those merged not
	merged  atomic.Uint64 // events that were merged into others
	handled atomic.Uint64 // callbacks that have returned, or panicked
	panics  atomic.Uint64
	waited  atomic.Int64  // nanoseconds that the processor has waited for the handler
	peak    atomic.Uint64 // the greatest number of events that ever waited

	// begun is for the watchdog; nil if there is none.
	begun *begun
	// current is the event of the callback that is going on. It and onPanic belong to the goroutine.
	current *notification[T]
	onPanic wait.PanicHandler
}

// laggingFrom is the number of waiting events from which a listener reports that it falls behind.
const laggingFrom = 1024

// add queues the events of b that are meant for this listener.
func (l *listener[T]) add(b batch[T]) {
	l.feeding.Lock()
	defer l.feeding.Unlock()
	if !l.left {
		l.addLocked(b)
	}
}

// drain queues the rest, after which nothing follows. It does not wait for the handler, which may be the one that calls.
func (l *listener[T]) drain(rest []batch[T]) {
	l.pipe.release()
	l.feeding.Lock()
	defer l.feeding.Unlock()
	for _, b := range rest {
		l.addLocked(b)
	}
	l.left = true
	l.pipe.finish()
}

func (l *listener[T]) addLocked(b batch[T]) {
	begin := b.index(l.next)
	l.next = max(l.next, b.first+uint64(len(b.events)))
	if !b.mixed {
		l.push(b.events[begin:], len(b.events)-begin)
		return
	}
	// Some events are not for everybody: push the runs between those that are not for this one. The mark behind the
	// initial list travels with the events and is not counted as one.
	count := 0
	for i := begin; i < len(b.events); i++ {
		switch n := &b.events[i]; {
		case !l.wants(n):
			l.push(b.events[begin:i], count)
			begin, count = i+1, 0
		case n.kind != eventSynced:
			count++
		}
	}
	l.push(b.events[begin:], count)
}

func (l *listener[T]) wants(n *notification[T]) bool { return !n.sync || l.due.Load() }

func (l *listener[T]) push(events []notification[T], count int) {
	if len(events) == 0 {
		return
	}
	added := l.added.Add(uint64(count))
	became := l.pipe.add(events)
	if merged := uint64(became.merged); merged > 0 {
		added = l.added.Add(-merged)
		l.merged.Add(merged)
	}
	if became.waited > 0 {
		l.blocked(became.waited)
	}

	pending, peak := added-l.handled.Load(), l.peak.Load()
	if pending <= peak {
		return
	}
	l.peak.Store(pending)
	if l.trace == nil || l.trace.HandlerLagging == nil || pending < laggingFrom {
		return
	}
	for mark := uint64(laggingFrom); mark <= pending; mark *= 2 {
		if mark > peak {
			l.trace.HandlerLagging(l.registration.info, int(pending))
			return
		}
	}
}

func (l *listener[T]) blocked(waited time.Duration) {
	l.waited.Add(int64(waited))
	if l.trace != nil && l.trace.HandlerBlocked != nil {
		l.trace.HandlerBlocked(l.registration.info, waited)
	}
}

// pending is the number of events that the handler has not dealt with, the one in its hands included.
func (l *listener[T]) pending() int {
	// handled first: added never falls behind a value of handled that was read before it.
	handled := l.handled.Load()
	return int(l.added.Load() - handled)
}

// run is the goroutine of the listener. The processor owns it.
func (l *listener[T]) run() {
	l.registration.goroutine.Store(goroutineID())
	defer l.end()
	l.tellInitial()
	l.pipe.run(l.deliver)
}

// end also runs if the handler leaves its goroutine by runtime.Goexit, as t.FailNow does: nobody must go on
// filling a pipe that nobody empties.
func (l *listener[T]) end() {
	l.stop()
	l.forgetInitial()
	if l.trace != nil && l.trace.HandlerEnded != nil {
		l.trace.HandlerEnded(l.registration.info, l.pending())
	}
	close(l.registration.ended)
}

// tellInitial works off the snapshot.
func (l *listener[T]) tellInitial() {
	for l.initial != nil {
		portion, ok := l.initial.next()
		if !ok {
			l.forgetInitial()
			break
		}
		for i := range portion {
			if l.stopped.Load() {
				return
			}
			l.deliver(&notification[T]{kind: EventAdd, initial: true, key: portion[i].key, obj: portion[i].obj})
		}
	}
	if l.complete {
		l.synced()
	}
}

// forgetInitial lets go of the snapshot, which pins every object that was in the store.
func (l *listener[T]) forgetInitial() {
	if l.initial != nil {
		l.initial.stop()
		l.initial = nil
	}
}

// deliver makes the callback for one event. Whatever the callback does, the event has been dealt with.
func (l *listener[T]) deliver(n *notification[T]) {
	if n.kind == eventSynced {
		l.synced()
		return
	}
	if l.begun != nil {
		l.begun.set(n.kind, n.key, l.handled.Load())
	}
	if l.trace == nil || l.trace.Handled == nil {
		l.call(n)
		l.handled.Add(1)
		return
	}
	begin := time.Now()
	l.call(n)
	l.handled.Add(1)
	l.trace.Handled(l.registration.info, n.kind, n.key, time.Since(begin))
}

// call survives a panic of the handler if wait.ReallyCrash is off. The event then counts as handled
// (kubernetes/kubernetes#129024: client-go forgets to count it, and the registration never becomes synced), and
// the next one follows without the pause of a second that client-go makes: there is no loop that could run hot,
// each panic uses up an event.
func (l *listener[T]) call(n *notification[T]) {
	l.current = n
	defer wait.HandleCrash(l.onPanic)
	switch n.kind {
	case EventAdd:
		l.handler.OnAdd(n.obj, n.initial)
	case EventUpdate:
		l.handler.OnUpdate(n.old, n.obj)
	case EventDelete:
		l.handler.OnDelete(DeletedObject[T]{Key: n.key, Object: n.obj, FinalStateUnknown: n.finalStateUnknown})
	}
	l.current = nil // it is part of a batch, which it would keep
}

func (l *listener[T]) panicked(_ context.Context, p *wait.Panic) {
	l.panics.Add(1)
	if l.trace != nil && l.trace.HandlerPanicked != nil {
		l.trace.HandlerPanicked(l.registration.info, l.current.kind, l.current.key, p.Value)
	}
	l.current = nil
}

func (l *listener[T]) synced() {
	l.registration.markSynced()
	if l.trace != nil && l.trace.HandlerSynced != nil {
		l.trace.HandlerSynced(l.registration.info)
	}
}

// stop ends run after the callback that is going on.
func (l *listener[T]) stop() {
	l.stopped.Store(true)
	l.pipe.stop()
}
