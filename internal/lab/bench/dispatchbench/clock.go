package dispatchbench

import (
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// clock measures the latencies of one handler. It is owned by the handler's goroutine, except
// between phases.
type clock struct {
	witness *witness
	// events is the number of events delivered to the handler; the driver reads it.
	events atomic.Int64
	laps   []int32 // by object: the current lap, counted from 1

	latency bench.Histogram
	pacer   *load.Pacer // nil outside the timed phase
	began   time.Time
	first   int           // the number of the phase's first event, counted from the start of the run
	newest  *atomic.Int64 // the number of the last event sent
	pending []int         // by object: the number of its oldest undelivered event
	_       [64]byte      // keeps handlers on separate cache lines
}

// start begins the timed phase.
func (c *clock) start(began time.Time, pacer *load.Pacer, first int, newest *atomic.Int64) {
	c.began, c.pacer, c.first, c.newest = began, pacer, first, newest
	s := c.witness.script
	c.pending = make([]int, len(s.keys))
	for number := first + s.laps - 1; number >= first; number-- {
		c.pending[s.events[number%s.laps].object] = number
	}
}

// observe is called with each event of the script before the witness checks it.
func (c *clock) observe(event int) {
	s := c.witness.script
	if event >= s.laps {
		return
	}
	c.events.Add(1)
	if object := s.events[event].object; int32(event) <= c.witness.delivered[object] {
		c.laps[object]++
	}
	if c.pacer != nil {
		// Of merged events, the oldest has waited longest.
		oldest := &c.pending[s.events[event].object]
		c.latency.Record(time.Since(c.began) - c.pacer.Due(*oldest-c.first))
		*oldest = c.number(event) + s.gap(event)
	}
}

// number returns the number of the event, counted from the start of the run. If nothing is merged
// it follows from the lap. If events are merged, it is the latest number that the event can have,
// which is correct while the handler is less than a lap behind.
func (c *clock) number(event int) int {
	s := c.witness.script
	if !c.witness.merges {
		return int(c.laps[s.events[event].object]-1)*s.laps + event
	}
	newest := int(c.newest.Load())
	return newest - ((newest-event)%s.laps+s.laps)%s.laps
}
