package leaderelection

import "time"

// clock counts the time since it was made, whatever happens to the time of day, and counts the time for which the machine
// was suspended as well: the monotonic clock of Linux, which package time reads, stands still meanwhile, and a laptop
// that wakes up after an hour would take its lease for valid.
type clock struct {
	began     time.Time
	suspended time.Duration // what suspended() said then
}

func newClock() *clock { return &clock{began: time.Now(), suspended: suspended()} }

func (c *clock) now() time.Duration {
	elapsed := time.Since(c.began)
	if slept := suspended() - c.suspended; slept > shortestSleep {
		elapsed += slept
	}
	return elapsed
}

// shortestSleep is far above what reading two clocks one after the other may differ by.
const shortestSleep = 100 * time.Millisecond

func (c *clock) moment() moment { return moment{local: c.now(), wall: time.Now()} }
