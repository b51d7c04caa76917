// Package ours gathers this project's scenarios for the comparison. It must not link anything of the original: what a
// process has linked, it has initialised and holds in memory.
//
// # Concept
//
// A function for each form that command ours can be: [Scenarios], [TextbookScenarios], [InOrderScenarios].
//
// # Guarantees
//
// No import leads to the original.
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
// The tests of package compare see to it that every measure has its scenario here, and that nothing of the original is linked.
//
// Next: package theirs
package ours
