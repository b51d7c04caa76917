// Package fast is the DeltaFIFO whose producers never wait for the consumer.
//
// # Concept
//
// client-go holds its lock while it processes an item, so a slow consumer stops the watch
// (kubernetes/kubernetes#103789). Here the lock is free then. The key being processed, the one in
// flight, needs care: it no longer waits, and the store does not show it yet. One rule covers it:
// a call while a key is in flight has the effect that it would have right after.
//
//   - Add and Update queue as always. The delta waits until the process function has returned.
//   - Delete, and a list without the key, cannot know whether the consumer will hold the object.
//     They queue a tentative delete. When the process function has returned, the store resolves
//     it: a deletion of an object that it does not hold is cancelled.
//   - Resync skips the key, as it skips waiting keys. (Here the rule has an exception: right
//     after, Resync would repeat the state that the consumer was just given.)
//   - Requeued deltas ([deltafifo.ErrRequeue]) go before newer ones.
//
// Replace and Resync do not hold the lock while they read the store. They build their deltas in a
// queue of their own, recheck the keys that consumers took meanwhile, and append the result.
//
// PopBatch hands out many keys and takes the lock once for each. The keys of a queue are in an
// [orrery/internal/table.Table], because one search both finds a key and makes room for it. With a
// Go map, each event of an informer took a sixth longer.
//
// # Guarantees
//
// Those of package deltafifo. In addition no method but Pop and PopBatch waits for a process
// function, which may call all other methods, and HasSynced stays false until a requeued initial
// key is processed.
//
// # Goroutines
//
// It starts none. Pop blocks until a key waits and no other process function runs.
//
// # Failure
//
// As in package deltafifo. After Close nothing is requeued: Pop returns the ErrRequeue, and the
// caller owns the deltas.
//
// # Testing
//
// The contract, for Pop and for PopBatch, names the incidents that its cases replay. One property
// test compares each call while a key is in flight with the same call right after on the textbook
// form; another checks that every handler sees a gapless history.
//
// Next: package deltafifo/inorder
package fast
