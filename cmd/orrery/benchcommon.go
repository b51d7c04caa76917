package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/bench/load"
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

// benchCost is the flag for what a handler spends.
type benchCost time.Duration

func (c *benchCost) addTo(flags *pflag.FlagSet) {
	flags.DurationVar((*time.Duration)(c), "handler-cost", 0, "what each handler spends on an event: work below 50us, waiting from there on")
}

func (c benchCost) check() error {
	if c < 0 {
		return fmt.Errorf("--handler-cost must not be negative, it is %v", time.Duration(c))
	}
	return nil
}

// benchSubjects are subjects by the names that flags have for them.
type benchSubjects[S interface{ Name() string }] []S

func (s benchSubjects[S]) names() []string {
	names := make([]string, len(s))
	for i, subject := range s {
		names[i] = strings.ReplaceAll(subject.Name(), " ", "-")
	}
	return names
}

// chosen are the subjects of a flag, in the order in which they were given.
func (s benchSubjects[S]) chosen(flag choiceFlag) []S {
	var subjects []S
	for _, name := range flag.chosen {
		subjects = append(subjects, s[slices.Index(s.names(), name)])
	}
	return subjects
}

// designVar adds a flag for the subjects.
func (s benchSubjects[S]) designVar(flags *pflag.FlagSet, c *choiceFlag, usage string) {
	choicesVar(flags, c, "design", "design", s.names(), usage)
}
