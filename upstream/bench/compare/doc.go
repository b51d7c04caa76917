// Package compare measures two sides against each other: this project and client-go, doing the same work in turns.
//
// # Concept
//
// The table of [Measures] says what is compared and what is wanted. Each round of a scenario runs every side once, in an
// order that is swapped from round to round (A B, B A, A B, ...), each side in a process of its own. So what slows the
// machine down for a while slows both sides down, and the ratio of a round is worth more than its figures.
//
// # Guarantees
//
// Sides whose proofs differ did not do the same work: there is an error then and no ratio.
//
// # Goroutines
//
// None are left when a call returns.
//
// # Failure
//
// A scenario that cannot be run fails with the side and the scenario in the error; the others are still measured.
//
// # Testing
//
// The statistics are tested with figures whose results are known and with simulated comparisons of a side with itself.
//
// Next: package theirs
package compare
