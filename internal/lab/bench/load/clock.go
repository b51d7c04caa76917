package load

import "time"

// clockStandsStill tells the clock of a synctest bubble from a real one. It goes on only while everybody sleeps, so who
// waits awake in a bubble waits forever.
func clockStandsStill() bool {
	began := time.Now()
	for range 10_000 {
		if time.Since(began) != 0 {
			return false
		}
	}
	return true
}
