// Package progress shows how far a benchmark is while it runs.
//
// # Concept
//
// A [bench.Meter] knows the phase that is going on. A [Display] asks it ten times a second. On a terminal a bar of
// schollz/progressbar is rewritten in place, with a description of the phase ([Describe]):
//
//	68% |█████████████       | [0s:0s] saturated, 683,008 of 1,000,000 keys, 4.21 M/s
//
// Anywhere else, in a pipe or on a terminal that cannot go back (TERM=dumb), each phase is a plain line once it is over
// ([Summary]), because a log should say what happened and not how it looked in between:
//
//	saturated: 1,000,000 keys in 237 ms, 4.21 M/s
//
// # Guarantees
//
// A description is cut before the line would wrap, on a terminal of 50 columns or more. Nothing is coloured. A display that
// has been stopped has left nothing behind on the terminal, and nothing that it would have to put back if the program were
// killed: no hidden cursor, no changed mode. In a pipe no phase is missed, however short.
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
// A pseudo-terminal of the kernel shows what is drawn and what is left; pipes are tested in virtual time.
//
// Next: package queuebench
package progress
