package bench

import "time"

// longestBusy is the longest cost that keeps a processor busy. Slower handlers usually wait for the
// API server, so a longer cost sleeps.
const longestBusy = 50 * time.Microsecond

// Cost is what a handler spends on each event. The zero value costs nothing.
type Cost struct {
	lasts time.Duration
	busy  bool
}

// NewCost returns a cost of d. Below 50 us it keeps a processor busy. From 50 us on it is sleep, as
// in a synctest bubble, where work takes no time.
func NewCost(d time.Duration) Cost {
	return Cost{lasts: d, busy: d < longestBusy && !clockStandsStill()}
}

// Spend spends the cost.
func (c Cost) Spend() {
	if !c.busy {
		time.Sleep(c.lasts)
		return
	}
	began := time.Now()
	for time.Since(began) < c.lasts {
	}
}
