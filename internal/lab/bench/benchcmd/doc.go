// Package benchcmd holds the commands "lab bench": a command for each benchmark, and one that sweeps a flag over several values.
//
// # Concept
//
// A benchmark is a name, texts for the help, and a workload: flags that become jobs, one for each design. A session does the
// jobs one after the other, in rounds, and hands the results to the table, JSON, CSV or picture that was asked for.
//
// # Guarantees
//
// A mistake is found before anything is measured. There are no results of half a run; a sweep that is interrupted shows the
// rows that are complete.
//
// # Goroutines
//
// Those of a job and of the progress display. They have ended when the command returns.
//
// # Failure
//
// A job whose proof fails shows no figures and ends the command. Ctrl-C ends it with exit code 130.
//
// # Testing
//
// Tests run every benchmark for a moment, with all forms of output, and parse every command of the documentation.
//
// Next: package bench
package benchcmd
