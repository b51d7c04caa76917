// Package deltafifo is the queue between what an API server tells and what a cache believes: it
// collects what happened to each object and hands it out one object at a time.
//
// # Concept
//
// A reflector learns about objects from a list and a watch, a consumer puts them into a store and
// tells handlers. The queue between them holds, for each key, the deltas that nobody has seen
// yet, oldest first, and the keys in the order in which their first delta came:
//
//	            Add, Update, Delete        Replace(list)        Resync
//	                     │                      │                 │
//	                     ▼                      ▼                 ▼
//	          ┌───────────────────────────────────────────────────────┐
//	first ──▶ │ ns/a   Added, Updated, Deleted                        │
//	          │ ns/b   Replaced                                       │ ◀── last
//	          └───────────────────────────────────────────────────────┘
//	                     │ Pop: all deltas of the first key
//	                     ▼
//	                  process ──▶ store (KnownObjects) ──▶ handlers
//
// Why not a queue of events? Because an object that changes a thousand times a second would fill
// it, and everybody else's first event would wait behind. Here a key has one place, whatever
// happens to it, and the consumer gets through with it in one turn. Why not just a set of keys, as
// a work queue is? Because the steps matter: an object that was deleted and created again is
// another object, and only the deltas say so.
//
// Two things come in that nobody watched. A list is the whole truth at one moment, so whatever
// waits or is known and is not listed must have been deleted while the watch was broken; Replace
// queues that deletion with a tombstone ([DeletedFinalStateUnknown]), which carries the last state
// that was seen. And Resync tells everything that is known once more, for handlers that want to
// look at the world again now and then.
//
// # Guarantees
//
// Order: the deltas of a key come out in the order in which they came in, and keys in the order
// of their first waiting delta. There is no order between deltas of different keys: a key keeps
// its place although later deltas join it.
//
// Nothing is lost: each delta is handed out, except that of two adjacent deletions one is enough
// (the one that was watched, if one was), that a deletion of what the consumer does not know is
// no news, and that a Resync leaves out whatever has something newer to tell. A list is taken
// whole or, if one of its objects has no key, not at all.
//
// One at a time: only one process function runs, so whatever it writes needs no lock against
// itself, and the deltas of a key are never in two hands.
//
// Synced: HasSynced is true when everything that the first list brought or buried has been
// processed, and not before: whoever waits for it may look into the store.
//
// Nobody waits for the consumer. The original holds the queue's lock while it processes an item,
// and a slow consumer stops the watch (kubernetes/kubernetes#103789). Here the lock is free then,
// and the key in hand needs care, because it waits no longer and the store does not show it yet.
// Its rules follow from one sentence: a call that comes while a key is in hand has the effect that
// it would have right after.
//
//   - Add and Update queue as always. What comes in waits until the consumer is done.
//   - Delete, and a list without the key, cannot tell whether the consumer knows the object, for
//     it may be adding it just now. They queue the deletion on suspicion. When the consumer is
//     done the store can tell, and a deletion that is no news is taken back.
//   - Resync leaves the key out, as it leaves out keys that wait, and for the same reason: the
//     store is behind. (The one exception to the sentence above; right after, it would tell the
//     new state, which the consumer has just been told.)
//   - If the consumer asks for the deltas to be put back (see [ErrRequeue]) they go in front of
//     whatever came in.
//
// Replace and Resync do not even hold the lock while they read the store. They prepare their
// deltas beside the line, keep a list of the keys that consumers take meanwhile, look at those
// again, and then join what they have prepared to the line; the lock is held for as long as there
// are keys that waited or were taken, and not for 100,000 objects.
//
// Without KnownObjects the queue knows only what waits or is in hand.
//
// # Objects
//
// The queue hands out the pointers that it was given; the same object may be in a tombstone and in
// the store. Nobody may change an object after it came in, and nobody may change Deltas.
//
// # Goroutines
//
// The queue starts none. Any number of goroutines may call it. Pop blocks until there is something
// to tell, the process function of somebody else is done, or the queue is closed and empty; PopBatch
// is Pop for many keys, one after the other, at a lower price. All other methods return without
// waiting for a consumer. KeyFunc and Transform run in the caller's goroutine outside any lock; the
// methods of KnownObjects run outside or inside; hooks run inside. Whoever owns the consumer's loop
// stops it with Close: Pop hands out what is left and then returns [ErrFIFOClosed].
//
// # Failure
//
// An object without a key and one that Transform refuses are not queued; the caller gets a
// [KeyError] or a [TransformError]. An error from process goes to the caller of Pop together with
// the deltas, which count as processed unless the error is an [ErrRequeue]. A process function
// that panics costs its own item; the panic goes on and the queue stays usable and becomes synced.
// After Close whatever comes in is refused with [ErrFIFOClosed], and nothing is put back.
//
// # Testing
//
// The contract is package deltafifotest. It is asserted of this queue, of a naive one that is there
// to be read first, and of client-go's own. The scripts in testdata/scenarios replay incidents and
// can be read without knowing Go. A property test compares each call that comes while a key is in
// hand with the same call right after on the naive queue; another lets a server, a broken watch
// and an indecisive consumer loose and demands that handlers are told a story without gaps that
// ends in the truth.
//
// Next: package indexer.
package deltafifo
