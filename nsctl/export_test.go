package nsctl

import "orrery/wait"

// Settled is the number of deletions that the controller remembers.
func (c *Controller) Settled() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.deletions)
}

// WithoutJitter makes the pauses after conflicts the same in each run.
func (d *Deleter) WithoutJitter() *Deleter {
	d.conflicts = func() wait.Backoff {
		backoff := conflictBackoff()
		backoff.Jitter = 0
		return backoff
	}
	return d
}
