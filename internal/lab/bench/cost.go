package bench

import (
	"runtime"
	"sync"
	"time"
)

// longestBusy is the longest cost that keeps a processor busy. Slower handlers usually wait for the
// API server, so a longer cost sleeps.
const longestBusy = 50 * time.Microsecond

// Cost is what a handler spends on each event. The zero value costs nothing.
type Cost struct {
	rounds int           // of busy
	sleep  time.Duration // instead of rounds
}

// NewCost returns a cost of d. Below 50 us it is processor work that takes d without interruption,
// so two handlers on one processor take twice as long. From 50 us on it is sleep. In a synctest
// bubble it is always sleep, because work takes no time there.
func NewCost(d time.Duration) Cost {
	switch {
	case d <= 0:
		return Cost{}
	case d >= longestBusy || clockStandsStill():
		return Cost{sleep: d}
	default:
		return Cost{rounds: int(float64(d) / roundTime())}
	}
}

// Spend spends the cost.
func (c Cost) Spend() {
	if c.sleep > 0 {
		time.Sleep(c.sleep)
		return
	}
	if c.rounds > 0 {
		runtime.KeepAlive(busy(c.rounds))
	}
}

// busy does work whose every step needs the one before, so that a processor cannot do several at
// once.
//
//go:noinline
func busy(rounds int) uint64 {
	x := uint64(rounds)
	for range rounds {
		x = mix(x)
	}
	return x
}

// roundTime returns the duration of an uninterrupted round of busy in nanoseconds: the best of
// several attempts.
var roundTime = sync.OnceValue(func() float64 {
	const rounds = 2000
	best := time.Duration(1<<63 - 1)
	for range 20 {
		began := time.Now()
		runtime.KeepAlive(busy(rounds))
		best = min(best, time.Since(began))
	}
	return max(float64(best), 1) / rounds
})
