package compare_test

import (
	"context"
	"fmt"

	"orrery/internal/lab/bench"
	"orrery/upstream/bench/compare"
)

// turn is one call of a fake runner.
type turn struct {
	side     compare.Side
	scenario string
	effort   bench.Effort
}

// fake is a Runner with given outcomes.
type fake struct {
	turns []turn
	// outcome returns a side's outcome in its n-th turn at a scenario, counted from 0.
	outcome func(side compare.Side, scenario string, n int) (bench.Outcome, error)
}

func (f *fake) Run(ctx context.Context, side compare.Side, scenario string, effort bench.Effort) (bench.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return bench.Outcome{}, err
	}
	n := 0
	for _, t := range f.turns {
		if t.side == side && t.scenario == scenario {
			n++
		}
	}
	f.turns = append(f.turns, turn{side, scenario, effort})
	return f.outcome(side, scenario, n)
}

// series returns a fake whose "ns/op" are each side's figures by round.
func series(figures map[compare.Side][]float64) *fake {
	return &fake{outcome: func(side compare.Side, scenario string, n int) (bench.Outcome, error) {
		values, ok := figures[side]
		if !ok {
			return bench.Outcome{}, fmt.Errorf("%s on %s: broken", scenario, side)
		}
		return bench.Outcome{Figures: map[string]float64{"ns/op": values[n]}, Proof: "all keys processed"}, nil
	}}
}

// cycle returns a measure of the fake runner.
func cycle() compare.Measure {
	return compare.Measure{
		Name: "queue/cycle ns/op", Scenario: "queue/cycle", Figure: "ns/op", Unit: "ns/op",
		Better: bench.Lower, Kind: compare.Ratio, Target: 0.25,
	}
}
