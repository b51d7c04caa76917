package bench_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

// driven runs the driver with a gear that takes a millisecond for each event.
func driven(ctx context.Context, l bench.Load, phase func(p *bench.Phase, event int) error) (*bench.Result, error) {
	keys := bench.NewKeys(10, bench.Uniform, 1)
	run := func(ctx context.Context, p *bench.Phase) (err error) {
		done := 0
		p.Begin()
		p.Usage = bench.Measure(func() {
			err = p.Produce(ctx, keys, func(event, _ int) error {
				time.Sleep(time.Millisecond)
				done++
				return phase(p, event)
			})
		})
		p.Done, p.Proof = done, "proven"
		return err
	}
	return bench.Driver{Load: l, Event: "key", Handled: "processed", Phase: run}.Run(ctx)
}

var garbage []byte

func TestTheDriverRunsTwoPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []time.Duration
		result, err := driven(t.Context(), bench.Load{Duration: time.Second, Rate: 1000},
			func(p *bench.Phase, event int) error {
				garbage = make([]byte, 1<<16)
				if p.Paced() && event%2 == 0 {
					late = append(late, p.Late(event))
				}
				return nil
			})
		require.NoError(t, err)
		processed, _ := result.Figure("processed")
		assert.InDelta(t, 1000, processed.Value, 10, "the producer makes as many events as the gear takes")
		allocated, _ := result.Figure("allocated per key")
		assert.InDelta(t, 1<<16, allocated.Value, 1<<14, "what each event allocates, in bytes")
		rate, _ := result.Figure("rate for latency")
		assert.Equal(t, 1000.0, rate.Value)
		assert.Len(t, late, 500)
		for _, d := range late {
			assert.InDelta(t, time.Millisecond, d, 1e3, "each event is made when it is due")
		}
		assert.Equal(t, []string{"as fast as possible: proven", "at 1000 keys a second: proven"}, result.Proof)
	})
}

// A run that looks for the rate has none yet.
func TestWithoutARateThereIsNoSecondPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result, err := driven(t.Context(), bench.Load{Duration: time.Second}, func(p *bench.Phase, _ int) error {
			assert.False(t, p.Paced())
			return nil
		})
		require.NoError(t, err)
		assert.Nil(t, result.Latency)
		assert.Equal(t, []string{"as fast as possible: proven"}, result.Proof)
	})
}

// On a busy machine the time may be up before a producer begins.
func TestAVeryShortRunMeasuresSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result, err := driven(t.Context(), bench.Load{Duration: 1}, func(*bench.Phase, int) error { return nil })
		require.NoError(t, err)
		processed, _ := result.Figure("processed")
		assert.Positive(t, processed.Value)
	})
}

func TestARunEndsWithItsContext(t *testing.T) {
	for _, paced := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			after := 0
			_, err := driven(ctx, bench.Load{Duration: 10 * time.Second, Rate: 100}, func(p *bench.Phase, _ int) error {
				if p.Paced() == paced {
					cancel()
					after++
				}
				return nil
			})
			assert.ErrorIs(t, err, context.Canceled)
			assert.LessOrEqual(t, after, 8, "the producer does not make many more")
		})
	}
}

func TestARunEndsWithAnError(t *testing.T) {
	broken := errors.New("broken")
	_, err := driven(t.Context(), bench.Load{Duration: time.Hour}, func(*bench.Phase, int) error { return broken })
	assert.ErrorIs(t, err, broken)
}
