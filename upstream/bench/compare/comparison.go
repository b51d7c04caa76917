package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orrery/internal/lab/bench"
)

// Config configures a comparison.
type Config struct {
	// Measures are the measures to take.
	Measures []Measure
	// Rounds is the number of rounds of each, at least 1. Fewer than five prove little.
	Rounds int
	Effort bench.Effort
	// Limit bounds the time of one side for one scenario; 0 means no limit.
	Limit time.Duration
	// Turn is called before each turn, and Finished after all rounds of a scenario, with its records
	// or the error. Both may be nil.
	Turn     func(turn string)
	Finished func(records []Record, err error)
}

// Run takes the measures. It returns the records in the order of the measures, and the joined
// errors of those that failed. It returns at once with the context's error when the context ends.
func Run(ctx context.Context, runner Runner, config Config) ([]Record, error) {
	all := contests(config.Measures)
	run := &comparison{Config: config, runner: runner}
	records := make(map[string]Record)
	var problems []error
	for i, c := range all {
		found, err := run.contest(ctx, c, fmt.Sprintf("%d/%d", i+1, len(all)))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			problems = append(problems, err)
		}
		for _, r := range found {
			records[r.Name] = r
		}
		if config.Finished != nil {
			config.Finished(found, err)
		}
	}
	var inOrder []Record
	for _, m := range config.Measures {
		if r, ok := records[m.Name]; ok {
			inOrder = append(inOrder, r)
		}
	}
	return inOrder, errors.Join(problems...)
}

// comparison is one call of Run.
type comparison struct {
	Config
	runner Runner
}

// contest runs all rounds of a scenario. A failed side ends it, as there is nothing to compare
// with.
func (r *comparison) contest(ctx context.Context, c contest, place string) ([]Record, error) {
	outcomes := make(map[entrant][]bench.Outcome)
	for round := range r.Rounds {
		for _, e := range c.order(round) {
			if r.Turn != nil {
				r.Turn(fmt.Sprintf("%s %s: round %d of %d, %s", place, e.scenario, round+1, r.Rounds, e.side))
			}
			outcome, err := r.one(ctx, e)
			if err != nil {
				return nil, err
			}
			outcomes[e] = append(outcomes[e], outcome)
		}
	}
	var records []Record
	var problems []error
	for _, m := range c.measures {
		ours, theirs := m.entrants()
		record, err := newRecord(m, outcomes[ours], outcomes[theirs])
		if textbook, ok := m.textbook(); ok && err == nil {
			err = record.addTextbook(m, textbook, outcomes[textbook])
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		records = append(records, record)
	}
	return records, errors.Join(problems...)
}

// one runs one side once.
func (r *comparison) one(ctx context.Context, e entrant) (bench.Outcome, error) {
	if r.Limit > 0 {
		limit := fmt.Errorf("not done after %v", r.Limit)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Limit, limit)
		defer cancel()
	}
	return r.runner.Run(ctx, e.side, e.scenario, r.Effort)
}

// Runner runs a side's scenario once. It returns when that side is idle again, so that the next one
// has the machine to itself.
type Runner interface {
	Run(ctx context.Context, side Side, scenario string, effort bench.Effort) (bench.Outcome, error)
}

// entrant is a side with its scenario.
type entrant struct {
	side     Side
	scenario string
}

// contest is one scenario of the other side, with every side that is compared over it.
type contest struct {
	// name is the other side's scenario.
	name     string
	entrants []entrant
	measures []Measure
}

// contests groups the measures that one series of rounds answers, in the order of the table.
func contests(measures []Measure) []contest {
	var all []contest
	for _, m := range measures {
		ours, theirs := m.entrants()
		at := slices.IndexFunc(all, func(c contest) bool { return c.name == theirs.scenario })
		if at < 0 {
			at = len(all)
			all = append(all, contest{name: theirs.scenario})
		}
		c := &all[at]
		c.measures = append(c.measures, m)
		entrants := []entrant{ours, theirs}
		if textbook, ok := m.textbook(); ok {
			entrants = append(entrants, textbook)
		}
		for _, e := range entrants {
			if !slices.Contains(c.entrants, e) {
				c.entrants = append(c.entrants, e)
			}
		}
	}
	return all
}

// order returns the order of a round. Every other round runs backwards, so that no side always
// follows the same one on a warm machine.
func (c contest) order(round int) []entrant {
	order := slices.Clone(c.entrants)
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}
