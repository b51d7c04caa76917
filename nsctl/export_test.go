package nsctl

import "runtime"

// OnlyStatusChanged is the filter of the handler.
var OnlyStatusChanged = onlyStatusChanged

// LockIsFree reports whether the controller's lock becomes free: it is held only briefly.
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
