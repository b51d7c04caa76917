package compare_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/upstream/bench/compare"
)

// guarded is what a guard of two measures has found and done.
type guarded struct {
	broken []string
	again  []string // what was measured again, each time
	turns  map[string]int
}

// guard guards a measure that is good and one whose ratio is made up for each attempt; the last stays. Its first attempt has two rounds.
func guard(t *testing.T, ratios ...float64) guarded {
	t.Helper()
	good, other := cycle(), cycle()
	other.Name, other.Scenario = "fifo/add-pop ns/op", "fifo/add-pop"
	const rounds = 2
	result := guarded{turns: map[string]int{}}
	runner := &fake{outcome: func(side compare.Side, scenario string, n int) (bench.Outcome, error) {
		figure := 0.2
		switch {
		case side == compare.Theirs:
			figure = 1
		case scenario == other.Scenario:
			attempt := 0
			if n >= rounds {
				attempt = 1 + (n-rounds)/(2*rounds)
			}
			figure = ratios[min(attempt, len(ratios)-1)]
		}
		return bench.Outcome{Figures: map[string]float64{"ns/op": figure}, Proof: "all"}, nil
	}}
	config := compare.Config{Measures: []compare.Measure{good, other}, Rounds: rounds, Effort: bench.Quick}
	records, err := compare.Run(t.Context(), runner, config)
	require.NoError(t, err)
	broken, err := compare.Guard(t.Context(), runner, config, records, func(b compare.Breach, attempt int) {
		assert.Equal(t, len(result.again)+2, attempt)
		result.again = append(result.again, b.Text)
	})
	require.NoError(t, err)
	for _, b := range broken {
		result.broken = append(result.broken, b.Text)
	}
	for _, turn := range runner.turns {
		if turn.side == compare.Ours {
			result.turns[turn.scenario]++
		}
	}
	return result
}

const halfOfTheTarget = "fifo/add-pop ns/op: the ratio is 0.90, and half of the target would be ≤ 0.50"

func TestWhatIsGoodIsNotMeasuredAgain(t *testing.T) {
	result := guard(t, 0.3)
	assert.Equal(t, guarded{turns: map[string]int{"queue/cycle": 2, "fifo/add-pop": 2}}, result)
}

func TestNoiseGoesWhenItIsMeasuredAgain(t *testing.T) {
	result := guard(t, 0.9, 0.3)
	assert.Empty(t, result.broken)
	assert.Equal(t, []string{halfOfTheTarget}, result.again)
	assert.Equal(t, map[string]int{"queue/cycle": 2, "fifo/add-pop": 2 + 4}, result.turns, "alone, and with twice the rounds")

	result = guard(t, 0.9, 0.9, 0.9, 0.3)
	assert.Empty(t, result.broken, "the last attempt")
	assert.Len(t, result.again, compare.Attempts-1)
}

func TestARegressionStays(t *testing.T) {
	result := guard(t, 0.9)
	assert.Equal(t, []string{halfOfTheTarget}, result.broken)
	assert.Equal(t, []string{halfOfTheTarget, halfOfTheTarget, halfOfTheTarget}, result.again)
	assert.Equal(t, map[string]int{"queue/cycle": 2, "fifo/add-pop": 2 + 3*4}, result.turns)
}

func TestAGuardThatCannotMeasureAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	record := compare.Record{Name: cycle().Name, Ratio: 0.9, TargetKind: compare.Ratio}
	config := compare.Config{Measures: []compare.Measure{cycle()}, Rounds: 1}
	_, err := compare.Guard(ctx, &fake{}, config, []compare.Record{record}, nil)
	assert.ErrorIs(t, err, context.Canceled)

	broken := &fake{outcome: func(compare.Side, string, int) (bench.Outcome, error) {
		return bench.Outcome{}, assert.AnError
	}}
	_, err = compare.Guard(t.Context(), broken, config, []compare.Record{record}, nil)
	assert.ErrorIs(t, err, assert.AnError)
}
