package predict

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"orrery/wait"
)

// newUntil is the interpreter for wait/until.go. The runs of f are commands; the period is the
// shortest one, so the timer is ready whenever the loop looks.
func newUntil(context.Context) commands {
	var runs []string
	return commands{
		// what the next run of f does: "return", "panic" or "stop", which ends the loop
		"run WHAT": func(args ...string) (string, error) {
			runs = append(runs, args[0])
			return "", nil
		},
		// how often the loop runs f until it ends
		"loop": func(...string) (string, error) {
			defer quietly()()
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			count := 0
			wait.JitterUntilWithContext(ctx, func(context.Context) {
				count++
				switch {
				case count > len(runs) || runs[count-1] == "stop":
					stop()
				case runs[count-1] == "panic":
					panic("run " + strconv.Itoa(count))
				}
			}, time.Nanosecond, 0, true)
			return strconv.Itoa(count), nil
		},
		// how many loops run f again after their first run has stopped them
		"stopped-loops NUMBER": func(args ...string) (string, error) {
			n, err := strconv.Atoi(args[0])
			again := 0
			for range n {
				ctx, stop := context.WithCancel(context.Background())
				count := 0
				wait.JitterUntilWithContext(ctx, func(context.Context) { count++; stop() }, time.Nanosecond, 0, false)
				if count > 1 {
					again++
				}
			}
			return strconv.Itoa(again), err
		},
		// when the timer of the next run is set in each round: before f or after it
		"timer SLIDING": func(args ...string) (string, error) { return timer(args[0] == "sliding"), nil },
		// the greatest number of runs of f at the same time, each longer than the period
		"simultaneous RUNS": func(args ...string) (string, error) {
			n, err := strconv.Atoi(args[0])
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			var present, most, count atomic.Int64
			wait.JitterUntilWithContext(ctx, func(context.Context) {
				most.Store(max(most.Load(), present.Add(1)))
				for range 1000 {
					_ = time.Now()
				}
				present.Add(-1)
				if count.Add(1) == int64(n) {
					stop()
				}
			}, time.Nanosecond, 0, false)
			return strconv.FormatInt(most.Load(), 10), err
		},
		// the shortest and the longest of many draws, to the second
		"jitter PERIOD FACTOR": func(args ...string) (string, error) {
			period, err := time.ParseDuration(args[0])
			factor, err2 := strconv.ParseFloat(args[1], 64)
			if err != nil || err2 != nil {
				return "", fmt.Errorf("a duration and a number are expected")
			}
			shortest, longest := time.Duration(math.MaxInt64), time.Duration(0)
			for range 100_000 {
				drawn := wait.Jitter(period, factor)
				shortest, longest = min(shortest, drawn), max(longest, drawn)
			}
			return fmt.Sprintf("%.0fs to %.0fs", shortest.Seconds(), longest.Seconds()), nil
		},
	}
}

// timer returns the order of f and its timer in two rounds of a loop.
func timer(sliding bool) string {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var order []string
	delay := func() time.Duration {
		order = append(order, "timer")
		return time.Nanosecond
	}
	runs := 0
	wait.BackoffUntilWithContext(ctx, func(context.Context) {
		order = append(order, "f")
		if runs++; runs == 2 {
			stop()
		}
	}, delay, sliding)
	return strings.Join(order, " ")
}

// quietly lets loops survive panics, without a report, until the returned function is called.
func quietly() (restore func()) {
	former, report := wait.ReallyCrash.Swap(false), wait.PanicHandlers.Replace()
	return func() {
		wait.ReallyCrash.Store(former)
		report()
	}
}
