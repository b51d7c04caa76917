package queuetest

import (
	"fmt"
	"sync"
	"time"

	"orrery/queue"
)

// diary is a trace that records the events as lines.
type diary struct {
	mu    sync.Mutex
	lines []string         // guarded by mu
	seqs  map[uint64]bool  // guarded by mu
	extra func(seq uint64) // called by each callback that has an Event
}

func (d *diary) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) event(e queue.Event[string], format string, args ...any) {
	d.write(format, args...)
	d.mu.Lock()
	if d.seqs == nil {
		d.seqs = map[uint64]bool{}
	}
	d.seqs[e.Seq] = true
	d.mu.Unlock()
	if d.extra != nil {
		d.extra(e.Seq)
	}
}

// read returns the lines since the last read.
func (d *diary) read() (lines []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines, d.lines = d.lines, nil
	return lines
}

func (d *diary) trace() *queue.Trace[string] {
	type event = queue.Event[string]
	plain := func(what string) func(event) {
		return func(e event) { d.event(e, "%s %s", what, e.Key) }
	}
	timed := func(what string) func(event, time.Duration) {
		return func(e event, t time.Duration) { d.event(e, "%s %s %v", what, e.Key, t) }
	}
	return &queue.Trace[string]{
		Added:         plain("added"),
		Coalesced:     plain("coalesced"),
		Refused:       plain("refused"),
		Delayed:       timed("delayed"),
		DelayCanceled: plain("delay canceled"),
		DelayEnded:    timed("delay ended"),
		Got:           timed("got"),
		Done:          timed("done"),
		DoneUnknown:   plain("done unknown"),
		Retried: func(key string, requeues int, wait time.Duration) {
			d.write("retried %s %d %v", key, requeues, wait)
		},
		Forgotten:    func(key string) { d.write("forgotten %s", key) },
		ShuttingDown: func(drain bool, dropped int) { d.write("shutting down %v %d", drain, dropped) },
	}
}
