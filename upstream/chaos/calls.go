package chaos

import "sync/atomic"

// calls notices when a callback begins before another one has ended.
type calls struct {
	running atomic.Int32
	wrong   atomic.Bool
}

func (c *calls) enter() {
	if c.running.Add(1) > 1 {
		c.wrong.Store(true)
	}
}

func (c *calls) leave() { c.running.Add(-1) }

func (c *calls) overlapped() bool { return c.wrong.Load() }
