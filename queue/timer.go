package queue

import "time"

// timer calls a function once, when the time has passed that it was set to last.
// *time.Timer is one.
type timer interface {
	Reset(d time.Duration) (wasSet bool)
	Stop() (wasSet bool)
}

func newTimer(punctual bool, d time.Duration, fire func()) timer {
	if punctual {
		if t := newPunctualTimer(fire); t != nil {
			t.Reset(d)
			return t
		}
	}
	return time.AfterFunc(d, fire)
}
