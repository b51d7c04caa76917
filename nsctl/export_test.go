package nsctl

import "runtime"

// LockIsFree reports whether the controller's lock can be had, soon: others hold it for a moment only.
func (c *Controller) LockIsFree() bool {
	for range 10_000 {
		if c.mu.TryLock() {
			c.mu.Unlock()
			return true
		}
		runtime.Gosched()
	}
	return false
}
