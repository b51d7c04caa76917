package wait

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// BenchmarkUntil is the price of one turn of the loop without a pause.
func BenchmarkUntil(b *testing.B) {
	for _, c := range []struct {
		name   string
		period time.Duration
	}{{"no pause", 0}, {"1ns", 1}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			stop := make(chan struct{})
			turns := 0
			Until(func() {
				if turns++; turns == b.N {
					close(stop)
				}
			}, c.period, stop)
		})
	}
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

func BenchmarkBackoffStep(b *testing.B) {
	backoff := Backoff{Duration: time.Second, Factor: 1.5, Jitter: 0.1, Steps: 1 << 30, Cap: time.Hour}
	for b.Loop() {
		backoff.Step()
	}
}
