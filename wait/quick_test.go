package wait

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// For any parameters a step is never negative, its base never exceeds the cap once it has grown,
// and jitter stays within its share.
func TestStepProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Backoff{
			Duration: time.Duration(rapid.Int64Min(0).Draw(t, "duration")),
			Factor:   rapid.Float64Range(0, 100).Draw(t, "factor"),
			Jitter:   rapid.Float64Range(-1, 10).Draw(t, "jitter"),
			Steps:    rapid.IntRange(-1, 50).Draw(t, "steps"),
			Cap:      time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "cap")),
		}
		steps := max(b.Steps, 0)
		for i := range 60 {
			base := b.Duration
			d := b.Step()
			longest := scale(base, 1+max(b.Jitter, 0))
			const rounding = time.Microsecond // of a float64 that holds 292 years in ns
			if d < base || d-rounding > longest {
				t.Fatalf("step %d: %v is not within [%v, +%v%%]", i, d, base, b.Jitter*100)
			}
			if b.Cap > 0 && b.Factor >= 1 && b.Duration != base && b.Duration > b.Cap {
				t.Fatalf("step %d: grew to %v, above the cap %v", i, b.Duration, b.Cap)
			}
			if b.Steps < 0 || b.Steps > steps {
				t.Fatalf("step %d: steps went from %d to %d", i, steps, b.Steps)
			}
			steps = b.Steps
		}
	})
}

// Compares the loop with a model that is one line of arithmetic, for any period and duration of
// runs.
func TestLoopAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		period := time.Duration(rapid.IntRange(0, 20).Draw(rt, "period")) * time.Second
		works := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 20).Draw(rt, "works")
		sliding := rapid.Bool().Draw(rt, "sliding")

		var want []time.Duration
		var at time.Duration
		for _, seconds := range works {
			want = append(want, at)
			work := time.Duration(seconds) * time.Second
			if sliding {
				at += work + period
			} else {
				at += max(work, period)
			}
		}
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			began := time.Now()
			var got []time.Duration
			JitterUntil(func() {
				if len(got) == len(works) {
					panic("f was called after the stop")
				}
				got = append(got, time.Since(began))
				time.Sleep(time.Duration(works[len(got)-1]) * time.Second)
				if len(got) == len(works) {
					close(stop)
				}
			}, period, 0, sliding, stop)
			assert.Equal(t, want, got)
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// A turn of the loop allocates nothing; what is allocated is the loop itself.
func TestLoopDoesNotAllocatePerTurn(t *testing.T) {
	perLoop := func(turns int) float64 {
		return testing.AllocsPerRun(20, func() {
			stop := make(chan struct{})
			left := turns
			Until(func() {
				if left--; left == 0 {
					close(stop)
				}
			}, 0, stop)
		})
	}
	assert.Equal(t, perLoop(1), perLoop(500))
}
