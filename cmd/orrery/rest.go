package main

import (
	"runtime"
	"runtime/debug"
	"time"
)

// restAfter is how long nothing must have happened before the process is taken to be at rest. Passes that fail are
// repeated sooner than that at first: they belong to the same work.
const restAfter = 3 * time.Second

// rest gives memory back to the machine when work has ended. What a burst of deletions takes is garbage a moment later,
// and the runtime keeps it until it needs to collect, which in a controller that does nothing may be minutes. Nearly
// always this controller does nothing, beside programs that could use the memory. A collection of a heap of a few
// megabytes costs a millisecond or two.
type rest struct {
	after time.Duration
	timer *time.Timer
}

// newRest has release called whenever nothing has happened for that long, once each time, beginning now. stop ends it.
func newRest(after time.Duration, release func()) *rest {
	return &rest{after: after, timer: time.AfterFunc(after, release)}
}

// worked says that something has happened. It may be called from any goroutine, but not after stop.
func (r *rest) worked() { r.timer.Reset(r.after) }

func (r *rest) stop() { r.timer.Stop() }

// giveBackMemory collects twice: what is kept in pools, for connections and compression, survives the first time.
func giveBackMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}
