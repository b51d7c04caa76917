// Package democmd holds the command "lab demo": a scene with every gear of the controller, on a terminal or as lines.
//
// # Concept
//
// Flags and the terminal become a [demo.Config]; package demo does the rest. With --keep the server stays up for kubectl.
//
// # Guarantees
//
// The terminal is as it was when the command returns, and while Ctrl-Z suspends the program.
//
// # Goroutines
//
// Those of the demo, and one for each kind of signal. All have ended when the command returns.
//
// # Failure
//
// Each mistake is one sentence that names the flag to change.
//
// # Testing
//
// Tests run the command with mistakes, draw for terminals of several kinds, and suspend a child process.
//
// Next: package benchcmd
package democmd
