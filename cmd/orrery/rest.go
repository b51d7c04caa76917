package main

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// restAfter is how long nothing must have happened before the process is taken to be at rest. Passes that fail are
// repeated sooner than that at first: they belong to the same work.
const restAfter = 3 * time.Second

// restAgain is how long a process that goes on resting may let garbage pile up: the renewals of a Lease leave a megabyte
// a minute, and the runtime would collect every two minutes and keep most of the room.
const restAgain = time.Minute

// rest gives memory back to the machine when work has ended. What a burst of deletions takes is garbage a moment later,
// and the runtime keeps it until it needs to collect, which in a controller that does nothing may be minutes. Nearly
// always this controller does nothing, beside programs that could use the memory. A collection of a heap of a few
// megabytes costs a millisecond or two.
type rest struct {
	after, again time.Duration
	release      func()

	busy    chan struct{} // holds one: something has happened
	ended   chan struct{}
	running sync.WaitGroup
}

// newRest has release called when nothing has happened for the time after, beginning now, and from then on each time
// that nothing has happened for the time again. stop ends it.
func newRest(after, again time.Duration, release func()) *rest {
	r := &rest{after: after, again: again, release: release, busy: make(chan struct{}, 1), ended: make(chan struct{})}
	r.running.Go(r.run)
	return r
}

// worked says that something has happened. It may be called from any goroutine, and does not block.
func (r *rest) worked() {
	select {
	case r.busy <- struct{}{}:
	default: // that is known already
	}
}

// stop returns when a release that is under way has ended. worked does nothing any more.
func (r *rest) stop() {
	close(r.ended)
	r.running.Wait()
}

func (r *rest) run() {
	timer := time.NewTimer(r.after)
	defer timer.Stop()
	for {
		select {
		case <-r.busy:
			timer.Reset(r.after)
		case <-timer.C:
			r.release()
			timer.Reset(r.again)
		case <-r.ended:
			return
		}
	}
}

// giveBackMemory collects twice: what is kept in pools, for connections and compression, survives the first time.
func giveBackMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}
