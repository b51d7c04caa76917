//go:build !linux

package queue

// newPunctualTimer returns nil: the timers of this system are not better than those
// of package time.
func newPunctualTimer(func()) timer { return nil }
