package logs

import (
	"sync"
	"time"
)

// manyTroubles bounds what is remembered of one outage.
const manyTroubles = 16

// outage is a time in which a list-watch does not work. It is told when it begins and when it is over; what is the matter
// is told again once a minute, and not with each of the attempts.
type outage struct {
	mu       sync.Mutex // guards what follows
	since    time.Time  // zero: all is well
	attempts int
	told     map[string]time.Time // when what was told last
}

// failed notes an attempt and tells whether its trouble deserves a line.
func (o *outage) failed(trouble string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() {
		o.since = now
	}
	o.attempts++
	if at, known := o.told[trouble]; known && now.Sub(at) < repeatEvery {
		return false
	}
	if o.told == nil || len(o.told) >= manyTroubles {
		o.told = map[string]time.Time{}
	}
	o.told[trouble] = now
	return true
}

// over ends an outage. lasted is 0 if there was none.
func (o *outage) over() (lasted time.Duration, attempts int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return 0, 0
	}
	lasted, attempts = max(time.Since(o.since), 1), o.attempts
	o.since, o.attempts, o.told = time.Time{}, 0, nil
	return lasted, attempts
}
