package dispatchbench

import (
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// clock takes the times of one handler. It belongs to the handler's goroutine, except between phases.
type clock struct {
	witness *witness
	// events is how many the handler was told, for the driver to see.
	events atomic.Int64
	laps   []int32 // by object: in which lap it is, counted from 1

	latency bench.Histogram
	pacer   *load.Pacer // nil while nothing is timed
	began   time.Time
	first   int           // the number of the first event of the phase, counted from the beginning of the run
	newest  *atomic.Int64 // the number of the event that was sent last
	untold  []int         // by object: the number of its oldest event that the handler has not been told of
	_       [64]byte      // no two handlers share a cache line
}

// start begins the phase in which events are timed.
func (c *clock) start(began time.Time, pacer *load.Pacer, first int, newest *atomic.Int64) {
	c.began, c.pacer, c.first, c.newest = began, pacer, first, newest
	s := c.witness.script
	c.untold = make([]int, len(s.keys))
	for number := first + s.laps - 1; number >= first; number-- {
		c.untold[s.events[number%s.laps].object] = number
	}
}

// observe is told each event of the script before the witness looks at it.
func (c *clock) observe(event int) {
	s := c.witness.script
	if event >= s.laps {
		return
	}
	c.events.Add(1)
	if object := s.events[event].object; int32(event) <= c.witness.told[object] {
		c.laps[object]++
	}
	if c.pacer != nil {
		// Of merged events the oldest is the one that has waited: it is since then that the handler was behind.
		oldest := &c.untold[s.events[event].object]
		c.latency.Record(time.Since(c.began) - c.pacer.Due(*oldest-c.first))
		*oldest = c.number(event) + s.gap(event)
	}
}

// number is that of the event, counted from the beginning of the run. A handler that is told everything has counted its
// laps. Of one that is told merged events nobody knows how many it has skipped; its last event is taken for the latest
// that it can have been, which is right as long as it is less than a lap behind.
func (c *clock) number(event int) int {
	s := c.witness.script
	if !c.witness.merges {
		return int(c.laps[s.events[event].object]-1)*s.laps + event
	}
	newest := int(c.newest.Load())
	return newest - ((newest-event)%s.laps+s.laps)%s.laps
}
