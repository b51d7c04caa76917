package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
)

// benchLoad are the flags that most workloads share: what happens to which keys, how fast and for how long.
type benchLoad struct {
	distribution choiceFlag
	duration     time.Duration
	rate         numberFlag
	seed         uint64
}

func (l *benchLoad) addTo(flags *pflag.FlagSet, duration time.Duration, of string) {
	choiceVar(flags, &l.distribution, "distribution", "", "distribution", load.Distributions(), "which "+of+" are hit how often (hot: one gets 90 %)")
	flags.DurationVar(&l.duration, "duration", duration, "how long each of the two phases takes")
	rateVar(flags, &l.rate, "rate", "events a second in the second phase, which measures latency; 0: half of what the first phase reached")
	flags.Uint64Var(&l.seed, "seed", 1, "seed of the random choices; the same seed makes the same choices")
}

func (l *benchLoad) check() error {
	switch {
	case l.duration <= 0:
		return fmt.Errorf("--duration must be positive, it is %v", l.duration)
	case l.seed == 0:
		return fmt.Errorf("--seed must not be 0")
	}
	return nil
}

func (l *benchLoad) chosen() load.Distribution { return load.Distribution(l.distribution.String()) }
