// Package gears selects, for each component (a "gear"), the fast or the textbook form.
//
// # Concept
//
// Every gear has a page that explains it, its textbook form, and a form that is fast. Both do the same, by one contract. A
// [Set] names the form of each gear, as the flag --gears does: "fast", "textbook", "fast,queue=textbook,deltafifo=inorder". The
// constructors of this package make what the set says.
//
// # Guarantees
//
// The zero [Set] is fast. A set that [Parse] accepts can be built: every form that can be named exists.
//
// # Goroutines
//
// None. A [Set] is immutable and safe for concurrent use.
//
// # Failure
//
// An unknown gear or form is refused with a list of those that exist.
//
// # Testing
//
// Tables for the text; the gears themselves are told apart by their types.
//
// Next: package nsctl
package gears
