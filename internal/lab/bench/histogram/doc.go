// Package histogram counts durations in buckets whose width grows with the duration, so that a percentile is right to
// about one percent whether it is nanoseconds or minutes, in 29 KiB.
//
// # Concept
//
// A duration's highest bit chooses an octave, the seven bits below it one of 128 buckets in the octave. A bucket is then
// never wider than 1/128 of what it counts.
//
//	d = 0b 1 0110101 1011...      octave: position of the 1;  bucket in it: 0110101
//
// # Guarantees
//
// A percentile is never below the true one and at most 1/128 above it. Nothing is lost: durations below zero count as
// zero, and there is a bucket for every duration that Go knows.
//
// # Goroutines
//
// A [Histogram] belongs to one goroutine. Give each its own and merge them when they have ended; a shared counter in a
// measured path would measure the counter.
//
// # Failure
//
// The percentiles of an empty histogram are zero. JSON that is no histogram of this package is refused. A bucket that has
// counted four billion begins again at zero; who records as many has other worries.
//
// # Testing
//
// Percentiles of random durations are compared with those of the sorted list.
//
// Next: package load
package histogram
