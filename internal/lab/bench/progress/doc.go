// Package progress shows how far a benchmark is while it runs.
//
// # Concept
//
// A [bench.Meter] knows the phase that is going on. A [Display] asks it ten times a second and draws a line, which is a
// pure function of the phase, the time and the width ([Line]). On a terminal the line is rewritten in place:
//
//	saturated  ████████████████░░░░░░░░  68 %  683,008 of 1,000,000 keys  4.21 M/s
//
// Anywhere else, in a pipe or on a terminal that cannot go back (TERM=dumb), each phase is a plain line once it is over
// ([Summary]), because a log should say what happened and not how it looked in between:
//
//	saturated: 1,000,000 keys in 237 ms, 4.21 M/s
//
// # Guarantees
//
// A line is never as wide as the terminal, so it never wraps; what matters least is left out first. Nothing is said by
// colour alone, and NO_COLOR is honoured. A display that has been stopped has left nothing behind on the terminal, and
// nothing that it would have to put back if the program were killed: no hidden cursor, no changed mode. In a pipe no phase
// is missed, however short.
//
// # Goroutines
//
// Start starts one, Stop ends it and returns when it is gone. Print may be called from any.
//
// # Failure
//
// What cannot be written is lost; a benchmark does not fail because nobody could watch.
//
// # Testing
//
// Golden files hold lines at several widths; a terminal that understands the few codes that are used shows what is left
// at the end; the rhythm is tested in a bubble.
//
// Next: package queuebench
package progress
