// Package ours gathers this project's scenarios for the comparison. It must not link anything of the original: what a
// process has linked, it has initialised and holds in memory.
//
// # Concept
//
// One function, [Scenarios], for command ours.
//
// # Guarantees
//
// No import leads to the original; a test looks.
//
// # Goroutines
//
// There are none.
//
// # Failure
//
// Nothing here can fail.
//
// # Testing
//
// The test of package compare that runs each scenario of either side covers it.
//
// Next: package theirs
package ours
