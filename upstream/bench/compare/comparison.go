package compare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orrery/internal/lab/bench"
)

// Config of a comparison.
type Config struct {
	// Measures to take.
	Measures []Measure
	// Rounds of each. At least 1; fewer than five support little.
	Rounds int
	Effort bench.Effort
	// Limit is how long one side may take for one scenario. 0 is for ever.
	Limit time.Duration
	// Observer is told how far the comparison is. It may be nil.
	Observer Observer
}

// Observer is told how far a comparison is, by its goroutine.
type Observer interface {
	// Turn comes before each turn.
	Turn(Turn)
	// Finished comes when all rounds of a scenario are over, with what they say or why there is nothing to say.
	Finished(records []Record, err error)
}

// Turn is one side's part in a round.
type Turn struct {
	Side     Side
	Scenario string
	// Round is counted from 1.
	Round, Rounds int
	// Contest is the number of the scenario, counted from 1.
	Contest, Contests int
	// Left is a guess at how long everything may still take.
	Left time.Duration
}

// Run takes the measures. It returns the records of those that could be taken, in the order of the measures, and the
// errors of the others, joined. The end of the context ends it at once, with the context's error.
func Run(ctx context.Context, runner Runner, config Config) ([]Record, error) {
	all := contests(config.Measures)
	run := &comparison{Config: config, runner: runner, clock: newForecast(all, config)}
	records := make(map[string]Record)
	var problems []error
	for i, c := range all {
		found, err := run.contest(ctx, c, Turn{Contest: i + 1, Contests: len(all), Rounds: config.Rounds})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			problems = append(problems, err)
		}
		for _, r := range found {
			records[r.Name] = r
		}
		if config.Observer != nil {
			config.Observer.Finished(found, err)
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
	clock  *forecast
}

// contest runs all rounds of a scenario. One side that fails ends it: there is nothing to compare with.
func (r *comparison) contest(ctx context.Context, c contest, turn Turn) ([]Record, error) {
	defer r.clock.finish(c)
	outcomes := make(map[entrant][]bench.Outcome)
	for round := range r.Rounds {
		for _, e := range c.order(round) {
			turn.Side, turn.Scenario, turn.Round, turn.Left = e.side, e.scenario, round+1, r.clock.left()
			if r.Observer != nil {
				r.Observer.Turn(turn)
			}
			began := time.Now()
			outcome, err := r.one(ctx, e)
			if err != nil {
				return nil, err
			}
			r.clock.took(c, e, time.Since(began))
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
