// Package reflector keeps a store equal to a collection on an API server: it lists the collection
// once and then watches it.
//
// # Concept
//
// An API server can return the present state (LIST) and the changes after a version (WATCH).
// Neither is enough alone: a list is outdated when it arrives, and a watch breaks, falls behind the
// server's history, or goes silent. The [Reflector] combines the two: it lists, and watches from
// the version of the list on. If the watch ends, the next one begins at the version of its last
// event; if the server has forgotten that version, another list comes first.
//
// The position is the resourceVersion that the store has reached. In the article on the controller
// manager, named in docs/learn/mechanisms.md, the Reflector is the part of the informer's
// controller that feeds the DeltaFIFO. "Textbook" is the form that follows it.
//
// This package has the textbook form, ListAndWatch on one page (reflector.go), and what both forms
// share. Package machine has the form with every recovery action that production needs.
//
// # Guarantees
//
//   - Order: the store sees events in the order in which the server sent them. Calls of the store
//     never overlap.
//   - Nothing is lost between list and watch: the watch begins at the version of the list.
//   - Time does not run backwards: a list is not older than the last version. Only if the server
//     refuses a list at that version (410, or too large), a consistent read at "" follows.
//   - An aggregated server may have no version for its lists. Then the watch asks for the present
//     state, and a list follows its end. A deletion between that list and its watch is found by the
//     next list.
//   - A deletion that happens while no watch is open is missing from the next Replace. The
//     DeltaFIFO turns it into a tombstone.
//
// # Goroutines
//
// Run uses the goroutine of its caller. The textbook form has one more for each open watch, which
// reads it into a channel. Run returns when its context has ended and the last call of the store
// has returned.
//
// # Failure
//
// A failed round is reported to Config.WatchErrorHandler as [*ListError], [*WatchStartError],
// [*StreamError] or [*StoreError], which wrap the cause. The back-off grows from 0.8 s to 30 s and
// restarts after a watch that delivered something or lasted ten seconds. A panic of the store, a
// hook or the handler continues in Run.
//
// # Testing
//
// Package reflectortest is the suite for every form.
//
// Next: package informer/reflector/machine
package reflector
