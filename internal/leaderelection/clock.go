package leaderelection

import "time"

// clock counts the time since its creation, unaffected by changes of the time of day. It includes
// the time for which the machine was suspended: Linux's monotonic clock, which package time reads,
// stands still meanwhile, and a laptop that resumes after an hour would regard its lease as valid.
type clock struct {
	began     time.Time
	suspended time.Duration // suspended() at that moment
}

func newClock() *clock { return &clock{began: time.Now(), suspended: suspended()} }

func (c *clock) now() time.Duration {
	elapsed := time.Since(c.began)
	if slept := suspended() - c.suspended; slept > shortestSleep {
		elapsed += slept
	}
	return elapsed
}

// shortestSleep is far above the error of reading two clocks one after the other.
const shortestSleep = 100 * time.Millisecond

func (c *clock) moment() moment { return moment{local: c.now(), wall: time.Now()} }
