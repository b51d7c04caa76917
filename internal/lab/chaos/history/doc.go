// Package history judges what a handler of an informer is told, while it is told.
//
// # Concept
//
// A handler learns of a collection event by event and has nothing to compare it with. A [History] has: it knows what was
// told before, and at the end somebody gives it the state of the server. Both halves of the chaos use it, the one in virtual
// time (internal/lab/chaos) and the one on a real control plane (upstream/chaos).
//
// # Guarantees
//
// What is called wrong, for every key:
//
//   - an addition of what is there; an update or a deletion of what is not;
//   - an update from another state than the one that was told last, or to an older one;
//   - a deletion of another object than the one that was told, or in an older state;
//   - anything about an object after its deletion. A deletion and creation that fell into a gap of the watch are told as one
//     update with another UID, which is the end of the first object and the beginning of the second;
//   - a state that the server never had, if there is a journal to ask;
//   - in the end, a state of affairs that is not the server's: a deletion that was lost shows there.
//
// # Goroutines
//
// None. Everything may be called from any goroutine.
//
// # Failure
//
// What is wrong is a sentence with the last events of the key. There are at most ten of them: what goes wrong once goes wrong
// often.
//
// # Testing
//
// Each rule is broken once, by the shortest history that does.
//
// Next: package internal/lab/chaos
package history
