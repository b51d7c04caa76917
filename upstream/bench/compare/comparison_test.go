package main_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	compare "orrery/upstream/bench/compare"
)

// taken takes measures.
func taken(t *testing.T, runner compare.Runner, rounds int, measures ...compare.Measure) ([]compare.Record, error) {
	return compare.Run(t.Context(), runner, compare.Config{Measures: measures, Rounds: rounds})
}

func TestSidesTakeTurnsAndSwap(t *testing.T) {
	runner := series(map[compare.Side][]float64{
		compare.Ours: {1, 1, 1}, compare.Theirs: {4, 4, 4}, compare.Textbook: {20, 12, 16}, compare.Priority: {2, 2, 2},
	})
	against, main := cycle(), cycle()
	main.Textbook = compare.Textbook
	against.Name, against.Against, against.Kind = "queue/cycle against the other", compare.Priority, compare.None
	records, err := compare.Run(t.Context(), runner, compare.Config{
		Measures: []compare.Measure{main, against}, Rounds: 3, Effort: bench.Quick,
	})
	require.NoError(t, err)
	var order []string
	for _, turn := range runner.turns {
		assert.Equal(t, "queue/cycle", turn.scenario)
		assert.Equal(t, bench.Quick, turn.effort)
		order = append(order, string(turn.side))
	}
	there, back := "ours client-go textbook controller-runtime", "controller-runtime textbook client-go ours"
	assert.Equal(t, strings.Join([]string{there, back, there}, " "), strings.Join(order, " "),
		"one series of rounds serves both measures")
	assert.Equal(t, &compare.TextbookRecord{Figure: 16, Ratio: 4}, records[0].Textbook)
	assert.InDelta(t, 0.25, records[0].Ratio, 1e-9, "ours is compared with theirs alone")
}

func TestARecordOfKnownFigures(t *testing.T) {
	runner := series(map[compare.Side][]float64{
		compare.Ours:   {20, 21, 22, 90, 24},
		compare.Theirs: {100, 100, 110, 300, 96},
	})
	records, err := taken(t, runner, 5, cycle())
	require.NoError(t, err)
	require.Len(t, records, 1)
	r := records[0]
	assert.Equal(t, 22.0, r.Ours, "the median: the slow round does not count")
	assert.Equal(t, 100.0, r.Theirs)
	assert.InDelta(t, 0.22, r.Ratio, 1e-9)
	assert.InDelta(t, 0.20, r.Low, 1e-9)
	assert.InDelta(t, 0.30, r.High, 1e-9)
	assert.InDelta(t, (0.30-0.20)/0.21, r.Spread, 1e-9, "ratios 0.20 0.21 0.20 0.30 0.25")
	assert.Equal(t, compare.Met, r.Verdict)
	assert.Equal(t, 5, r.Rounds)
	assert.Equal(t, "all keys processed", r.Proof)
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*compare.Measure)
		ours   []float64
		want   compare.Verdict
	}{
		"met":                      {nil, []float64{20, 24, 25}, compare.Met},
		"missed":                   {nil, []float64{20, 26, 27}, compare.Missed},
		"worse":                    {nil, []float64{200, 260, 270}, compare.Missed},
		"higher is better: met":    {higher(2), []float64{200, 210, 190}, compare.Met},
		"higher is better: missed": {higher(2), []float64{150, 150, 190}, compare.Missed},
		"a value: met":             {value(30), []float64{20, 30, 300}, compare.Met},
		"a value: missed":          {value(30), []float64{20, 31, 300}, compare.Missed},
		"no target":                {none, []float64{20, 20, 20}, compare.Shown},
		"rounded":                  {rounded, []float64{0.001, 0.004, 0.002}, compare.Met},
		"rounded up":               {rounded, []float64{0.006, 0.006, 0.002}, compare.Missed},
	} {
		m := cycle()
		if c.change != nil {
			c.change(&m)
		}
		runner := series(map[compare.Side][]float64{compare.Ours: c.ours, compare.Theirs: {100, 100, 100}})
		records, err := taken(t, runner, 3, m)
		require.NoError(t, err)
		assert.Equal(t, c.want, records[0].Verdict, name)
		assert.Equal(t, c.want == compare.Missed, compare.MissedTargets(records) != nil, name)
	}
}

func higher(target float64) func(*compare.Measure) {
	return func(m *compare.Measure) { m.Better, m.Target = bench.Higher, target }
}

func value(target float64) func(*compare.Measure) {
	return func(m *compare.Measure) { m.Kind, m.Target = compare.Value, target }
}

func none(m *compare.Measure) { m.Kind = compare.None }

func rounded(m *compare.Measure) { m.Kind, m.Target, m.Grain = compare.Value, 0, 0.01 }

func TestMissedTargetsAreNamed(t *testing.T) {
	atLeast, none := cycle(), cycle()
	atLeast.Name, atLeast.Better, atLeast.Target = "store writes/s", bench.Higher, 1000
	none.Name, none.Kind, none.Target = "queue allocs/op", compare.Value, 0
	runner := series(map[compare.Side][]float64{compare.Ours: {1}, compare.Theirs: {1}})
	records, err := taken(t, runner, 1, cycle(), atLeast, none)
	require.NoError(t, err)
	assert.EqualError(t, compare.MissedTargets(records), strings.Join([]string{
		"queue/cycle ns/op: the ratio is 1.00, and the target is ≤ 0.25",
		"store writes/s: the ratio is 1.00, and the target is ≥ 1,000",
		"queue allocs/op: it is 1 ns, and the target is ≤ 0 ns",
	}, "\n"))
}

func TestSidesThatDidDifferentWork(t *testing.T) {
	runner := &fake{outcome: func(side compare.Side, _ string, _ int) (bench.Outcome, error) {
		return bench.Outcome{Figures: map[string]float64{"ns/op": 1}, Proof: "proof of " + string(side)}, nil
	}}
	records, err := taken(t, runner, 2, cycle())
	assert.Empty(t, records)
	assert.ErrorContains(t, err, "queue/cycle ns/op: the sides did not do the same work: ours proves")

	differs := cycle()
	differs.Differs = true
	records, err = taken(t, runner, 2, differs)
	require.NoError(t, err)
	assert.Equal(t, "proof of ours", records[0].Proof)
	differs.Textbook = compare.Textbook
	_, err = taken(t, runner, 2, differs)
	assert.ErrorContains(t, err, `client-go proves "proof of client-go", textbook proves "proof of textbook"`)
}

func TestASideThatDidDifferentWorkInARound(t *testing.T) {
	for _, changing := range []compare.Side{compare.Ours, compare.Theirs} {
		runner := &fake{outcome: func(side compare.Side, _ string, n int) (bench.Outcome, error) {
			outcome := bench.Outcome{Figures: map[string]float64{"ns/op": 1}, Proof: "0"}
			if side == changing {
				outcome.Proof = fmt.Sprint(n)
			}
			return outcome, nil
		}}
		m := cycle()
		for _, m.Differs = range []bool{false, true} {
			runner.turns = nil
			_, err := taken(t, runner, 2, m)
			want := fmt.Sprintf(`queue/cycle on %s proves "0" in one round and "1" in another`, changing)
			assert.EqualError(t, err, want)
		}
	}
}

func TestFiguresWithoutARatio(t *testing.T) {
	missing := cycle()
	missing.Figure = "allocs/op"
	for want, m := range map[string]compare.Measure{
		`queue/cycle on ours has no figure "allocs/op"`:                      missing,
		"queue/cycle ns/op: ns/op of client-go is 0: there is no ratio to 0": cycle(),
	} {
		_, err := taken(t, series(map[compare.Side][]float64{compare.Ours: {1}, compare.Theirs: {0}}), 1, m)
		assert.EqualError(t, err, want)
	}
}

func TestOneFailureDoesNotStopTheOthers(t *testing.T) {
	broken := cycle()
	broken.Name, broken.Scenario, broken.Against = "fifo/add-pop ns/op", "fifo/add-pop", compare.RealFIFO
	var said []string
	runner := series(map[compare.Side][]float64{compare.Ours: {1, 1}, compare.Theirs: {2, 2}})
	records, err := compare.Run(t.Context(), runner, compare.Config{
		Measures: []compare.Measure{broken, cycle()}, Rounds: 2, Say: func(text string) { said = append(said, text) },
	})
	assert.EqualError(t, err, "fifo/add-pop on client-go's RealFIFO: broken")
	require.Len(t, records, 1)
	assert.Equal(t, "queue/cycle ns/op", records[0].Name)
	assert.Equal(t, []string{"[1/2] fifo/add-pop", "FAILED: fifo/add-pop on client-go's RealFIFO: broken",
		"[2/2] queue/cycle"}, said)
}

func TestTheEndOfTheContextEndsEverything(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runner := &fake{}
	runner.outcome = func(compare.Side, string, int) (bench.Outcome, error) {
		cancel()
		return bench.Outcome{}, ctx.Err()
	}
	records, err := compare.Run(ctx, runner,
		compare.Config{Measures: []compare.Measure{cycle()}, Rounds: 5})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, records)
	assert.Len(t, runner.turns, 1)
}

// slowly is a Runner whose turns each take a different time.
type slowly time.Duration

func (s slowly) Run(ctx context.Context, side compare.Side, scenario string, _ bench.Effort) (bench.Outcome, error) {
	select {
	case <-time.After(time.Duration(s)):
		return bench.Outcome{Figures: map[string]float64{"ns/op": 1}}, nil
	case <-ctx.Done():
		return bench.Outcome{}, errors.Join(errors.New(scenario+" on "+string(side)), context.Cause(ctx))
	}
}

func TestASideThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := compare.Run(t.Context(), slowly(time.Hour), compare.Config{
			Measures: []compare.Measure{cycle()}, Rounds: 5,
		})
		assert.ErrorContains(t, err, "queue/cycle on ours")
		assert.ErrorContains(t, err, "not done after 3m0s")
		assert.Equal(t, 3*time.Minute, time.Since(began))
	})
}

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

func (f *fake) Run(ctx context.Context, side compare.Side, scenario string,
	effort bench.Effort) (bench.Outcome, error) {
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
		Better: bench.Lower, Kind: compare.Ratio, Target: 0.25, Against: compare.Theirs,
	}
}
