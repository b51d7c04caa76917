// Package fast is the DeltaFIFO whose producers never wait for the consumer.
//
// # Concept
//
// client-go holds its lock while it processes an item, so a slow consumer stops the watch
// (kubernetes/kubernetes#103789). Here the lock is free then. The key that is being processed, the one
// in flight, needs care: it waits no longer, and the store does not show it yet. One rule covers it: a
// call that comes while a key is in flight has the effect that it would have right after.
//
//   - Add and Update queue as always. The delta waits until the process function has returned.
//   - Delete, and a list without the key, cannot know whether the consumer will hold the object. They
//     queue a tentative deletion. When the process function has returned, the store decides, and a
//     deletion of what it does not hold is cancelled.
//   - Resync skips the key, as it skips keys that wait. (Here the rule has an exception: right after,
//     Resync would repeat the state that the consumer was just given.)
//   - Deltas that are put back ([deltafifo.ErrRequeue]) go in front of what came in.
//
// Replace and Resync do not hold the lock while they read the store. They build their deltas in a
// queue of their own, look again at the keys that consumers took meanwhile, and append the result. The
// lock is held for the keys that waited or were taken, not for 100,000 objects.
//
// PopBatch hands out many keys and takes the lock once for each. The keys of a queue are in an
// [orrery/internal/table.Table], because one search both finds a key and makes room for it. With a Go
// map an event of an informer took a sixth longer.
//
// # Guarantees
//
// Those of package deltafifo. In addition no method but Pop and PopBatch waits for a process function,
// which may call all others itself, and HasSynced waits for an initial key that was put back.
//
// # Goroutines
//
// It starts none. Pop blocks until something waits and no other process function runs.
//
// # Failure
//
// As in package deltafifo. After Close nothing is put back: Pop returns the ErrRequeue, and the deltas
// are the caller's.
//
// # Testing
//
// The contract, package deltafifotest, for Pop and for PopBatch. The scripts in testdata/scenarios
// replay incidents. One property test compares each call that comes while a key is in flight with the
// same call right after on the textbook form. Another lets a server, a broken watch and a consumer that
// puts items back run at random, and checks that every handler sees a gapless history that ends in
// the server's state.
//
// Next: package deltafifo/inorder
package fast
