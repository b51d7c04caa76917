package informer

import "time"

// MinimumResyncPeriod is the shortest resync period; shorter ones are raised to it.
const MinimumResyncPeriod = time.Second

// resyncSchedule says when a handler wants to be reminded of every object.
//
// The reflector looks every check period, which is the shortest period that was asked for before the informer
// started; a handler's own period is therefore rounded up to the next look.
type resyncSchedule struct {
	requested time.Duration // by whoever added the handler; 0 is never
	period    time.Duration // what came of it; 0 is never
	next      time.Time
}

// effectiveResyncPeriod is what a requested period becomes in an informer that looks every check.
func effectiveResyncPeriod(requested, check time.Duration) time.Duration {
	if requested == 0 || check == 0 {
		return 0
	}
	return max(requested, check)
}

// adapt fits the schedule to a check period and starts it over.
func (s *resyncSchedule) adapt(check time.Duration, now time.Time) {
	s.period = effectiveResyncPeriod(s.requested, check)
	s.next = now.Add(s.period)
}

// due reports whether the time has come, and if so moves on to the next one.
func (s *resyncSchedule) due(now time.Time) bool {
	if s.period == 0 || now.Before(s.next) {
		return false
	}
	s.next = now.Add(s.period)
	return true
}
