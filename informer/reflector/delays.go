package reflector

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// exponential returns the source of the delays. The library spreads a delay to both sides of a mean; a wait between d
// and d(1+jitter) has the mean d(1+jitter/2).
func (b BackoffConfig) exponential() backoff.BackOff {
	stretch := 1 + b.Jitter/2
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval = scale(b.Initial, stretch)
	delays.MaxInterval = scale(b.Max, stretch)
	delays.Multiplier = b.Factor
	delays.RandomizationFactor = b.Jitter / 2 / stretch
	delays.MaxElapsedTime = 0 // a Reflector never gives up
	delays.Reset()
	return delays
}

func scale(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
