package wait

import (
	"math"
	"math/rand/v2"
	"time"
)

// Jitter returns a random duration d with
//
//	duration <= d <= duration + maxFactor*duration
//
// so that clients which were started together drift apart. A maxFactor of 0 or
// less means 1.0 here, as in Kubernetes; in [JitterUntil] it means no jitter.
//
// A result that would not fit is the longest possible duration. A duration
// of 0 or less, which waits for nothing, is returned as it is.
func Jitter(duration time.Duration, maxFactor float64) time.Duration {
	if maxFactor <= 0 {
		maxFactor = 1
	}
	if duration <= 0 {
		return duration
	}
	// The share is computed in floating point and added in integers: a float64
	// cannot hold every duration, and the result must not be below duration.
	share := scale(duration, rand.Float64()*maxFactor)
	if sum := duration + share; sum >= duration {
		return sum
	}
	return math.MaxInt64
}

// scale multiplies and saturates. Converting a float64 that is out of range to
// an integer gives an unspecified value in Go, on common machines a negative
// one, and a negative delay turns a back-off into a busy loop.
func scale(d time.Duration, factor float64) time.Duration {
	product := float64(d) * factor
	// float64(MaxInt64) rounds up to 2^63, itself one too many: hence >=.
	if product >= math.MaxInt64 {
		return math.MaxInt64
	}
	if product <= math.MinInt64 {
		return math.MinInt64
	}
	return time.Duration(product)
}
