package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// restAfter is how long a process must be idle to count as at rest. The first retries of failed
// passes come sooner: they belong to the same work.
const restAfter = 3 * time.Second

// restAgain is the period of collections at rest. Renewals of a Lease leave a megabyte of garbage a
// minute; the runtime would collect every two minutes and keep most of it.
const restAgain = time.Minute

// rest returns memory to the system when work has ended. The memory of a burst of deletions is soon
// garbage, but an idle runtime may keep it for minutes. Collecting a heap of a few megabytes takes
// a millisecond or two.
type rest struct {
	after, again time.Duration
	release      func()

	busy    chan struct{} // holds a value after work
	ended   chan struct{}
	running sync.WaitGroup
}

// newRest returns a new rest that calls release after the process has been idle for the first
// duration, and again after each further idle period. Call stop to end it.
func newRest(after, again time.Duration, release func()) *rest {
	r := &rest{after: after, again: again, release: release, busy: make(chan struct{}, 1), ended: make(chan struct{})}
	r.running.Go(r.run)
	return r
}

// worked records activity. It may be called from any goroutine, and does not block.
func (r *rest) worked() {
	select {
	case r.busy <- struct{}{}:
	default: // already recorded
	}
}

// stop returns when a running release has ended. worked does nothing afterwards.
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

// collectEarly has garbage collected when the heap has grown by half, unless the variable GOGC is
// set. About a megabyte is live. By default the runtime would let it grow to four in a burst, and
// what then stays in use is scattered over pages that cannot be given back.
func collectEarly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// giveBackMemory collects twice: pools of connections and compressors survive the first collection.
func giveBackMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}
