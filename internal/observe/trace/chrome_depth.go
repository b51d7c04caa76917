package trace

import "strconv"

// counter is a depth at a moment. A depth is drawn at most once a millisecond, so the last one may
// still have to be drawn.
type counter struct {
	pid       int
	name      string
	at, depth int64
	drawn     bool
}

// depth draws a depth, and before it the last one of an earlier millisecond.
func (c *chrome) depth(pid int, name string, depth int64) {
	slot := strconv.Itoa(pid) + name
	last, next := c.depths[slot], &counter{pid: pid, name: name, at: c.now, depth: depth}
	c.depths[slot] = next
	if last != nil && last.at/1000 == next.at/1000 {
		return
	}
	c.draw(last)
	c.draw(next)
}

// draw writes a depth, unless it was written.
func (c *chrome) draw(d *counter) {
	if d == nil || d.drawn {
		return
	}
	d.drawn = true
	c.event(chromeEvent{Phase: "C", Name: d.name, PID: d.pid, At: float64(d.at), Args: map[string]any{"waiting": d.depth}})
}

// backlog draws how many events wait for a handler.
func (c *chrome) backlog(pid int, e *Event, pending int64) {
	c.pending[e.In+" "+e.Handler] = pending
	c.depth(pid, "listener "+e.Handler, pending)
}
