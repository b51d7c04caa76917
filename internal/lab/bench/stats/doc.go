// Package stats says what a handful of rounds of a benchmark support, and what they do not.
//
// # Concept
//
// Rounds on a shared machine are not samples of a bell curve: most are alike, and some are far too slow because a
// neighbour was busy. So nothing here takes a mean of times. [Median] forgets the outliers; [Spread] shows them.
//
// Two sides are compared by their ratio, round by round ([Ratios]), because whatever disturbed a round disturbed both
// sides of it. Ratios are multiplied, not added: half and double cancel out, and [GeometricMean] is the mean for which
// they do.
//
// Whether there is a difference at all is a sign test: without one, each round is a coin that says who was faster. [Lean]
// is how likely the coins would agree as much as they did. With five rounds only "all of them" says something, and this is
// the simple rule of [Differ].
//
// # Guarantees
//
// Functions do not change what they are given. The order of the rounds does not matter.
//
// # Goroutines
//
// There are none.
//
// # Failure
//
// What has no answer is NaN: the median of nothing, the geometric mean with something that is not above zero, a ratio to
// zero. NaN is carried through; it never becomes a difference.
//
// # Testing
//
// Results that can be worked out by hand, and properties: a median has as many values above it as below, a sign test
// does not change when the sides are swapped.
//
// Next: package queuebench
package stats
