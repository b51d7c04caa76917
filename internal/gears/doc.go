// Package gears selects, for each component (a "gear"), the fast or the textbook form.
//
// # Concept
//
// Every gear has a textbook form, a page that explains it, and a fast form. Both pass the same contract suite. A [Set] names
// the form of each gear, as the flag --gears does: "fast", "textbook", "fast,queue=textbook,deltafifo=inorder". The constructors
// of this package return the forms that the set names.
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
// Tables for [Parse]. The tests distinguish the forms by their types.
//
// Next: package nsctl
package gears
