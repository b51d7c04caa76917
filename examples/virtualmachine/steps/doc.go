// Package steps is what the programs of docs/learn/write-your-own-controller.md have in common.
//
// # Concept
//
// A program of a page should be short, and still say what is missing when a reader has left
// something out. [Connect] finds the server, [Explain] puts an error into one line with the command
// that helps, and [Verbose] makes an informer print why it sees nothing. [Queue] has the queue and
// the workers of step 3, for the steps after it.
//
// # Guarantees
//
// Each reason is printed once, until the informer works again.
//
// # Failure
//
// [Connect] ends the program. An informer tries again forever.
//
// # Testing
//
// The programs run without a server, without the CustomResourceDefinition, and as the page has
// them.
//
// Next: package virtualmachine
package steps
