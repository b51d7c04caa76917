// Package program holds what the two programs of the repository share: how they start, refuse, are stopped and end.
//
// # Concept
//
// [Main] runs a tree of cobra commands. Help, completion and suggestions are cobra's. Prepare adds three things: a command that
// only groups others refuses words that it does not know, "help" fails for a command that does not exist, and a mistake on the
// command line is one sentence that names the help to read.
//
// # Guarantees
//
// The exit code is 0 if the program did what it was asked to do, 1 if it failed, and 130 if Ctrl-C ended it before it was done.
// A failure ends with one line on standard error, without secrets. A blocked pipe does not keep the program from ending.
//
// # Goroutines
//
// [UntilSignal] starts one goroutine, which ends when the signals are given back.
//
// # Failure
//
// [UsageError] is a mistake on the command line. An error that wraps [ErrInterrupted] means that the user did not wait.
//
// # Testing
//
// Tests play signals in virtual time, and run both programs' command trees with mistakes of every kind.
//
// Next: package internal/lab/apiserver/servecmd
package program
