package nsctl

import (
	"sync"
	"time"

	"orrery/wait"
)

// passWatch tells when a pass takes long, and again each time that has doubled. A nil one does nothing.
//
// It is a timer for each pass that is under way: a pass is dozens of requests, so that costs nothing, and while there
// is none there is nothing that wakes up.
type passWatch struct {
	tell func(running time.Duration)

	mu    sync.Mutex // guards what follows; held while telling, so that nothing is told of a pass that is over
	timer *time.Timer
	mark  time.Duration // for how long the pass has been under way when the timer fires
	over  bool
}

// watchPass begins to watch a pass that begins now. Whoever called it calls end.
func (c *Controller) watchPass(name string) *passWatch {
	if c.trace == nil || c.trace.PassStuck == nil {
		return nil
	}
	w := &passWatch{mark: StuckAfter, tell: func(running time.Duration) { c.trace.passStuck(name, running, c.queue.Len()) }}
	w.mu.Lock() // the timer must be set before it fires
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.mark, w.look)
	return w
}

func (w *passWatch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	running := w.mark
	w.timer.Reset(running) // as long again: then it has doubled
	w.mark *= 2
	defer wait.HandleCrash() // on this goroutine nobody else would keep a fault of the hook from ending the process
	w.tell(running)
}

// end returns when nothing is being told any more.
func (w *passWatch) end() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
