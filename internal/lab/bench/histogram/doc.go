// Package histogram counts durations in buckets whose width grows with the duration, so that a percentile is right to
// about one percent whether it is nanoseconds or minutes, in 37 KiB.
//
// # Concept
//
// The counting is HdrHistogram's, with two significant digits. This package gives it durations, a zero value that is ready,
// the exact shortest and longest duration, and the form that "lab bench -o json" writes.
//
// # Guarantees
//
// A percentile is never below the true one and at most 1/128 above it, up to an hour. Nothing is lost: durations below zero
// count as zero, and those above an hour as an hour. Min and Max are exact.
//
// # Goroutines
//
// A [Histogram] belongs to one goroutine. Give each its own and merge them when they have ended; a shared counter in a
// measured path would measure the counter.
//
// # Failure
//
// The percentiles of an empty histogram are zero.
//
// # Testing
//
// Percentiles of random durations are compared with those of the sorted list.
//
// Next: package load
package histogram
