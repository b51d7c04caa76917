// Package deltafifo is the queue between a reflector and a store: it collects the changes of each
// object and hands them out one object at a time.
//
// "The article" is the one on the controller manager, named in docs/learn/mechanisms.md. "Textbook"
// is the form that follows it: this package. Package fast has the optimized form.
//
// # Concept
//
// A reflector learns about objects from a list and a watch; a consumer puts them into a store and
// calls handlers. The queue between them holds, for each key, the deltas that were not processed
// yet, oldest first, and the keys in the order of their first delta:
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
// Why not a queue of events? An object that changes a thousand times a second would fill it and
// delay every other object. Here a key has one place, and the consumer handles all its deltas in
// one turn. Why not a set of keys, like a work queue? Because the steps matter: an object that was
// deleted and created again is another object, and only the deltas show it.
//
// Two inputs do not come from a watch. A list is the whole state at one moment. A key that waits or
// is known but is not listed was deleted while the watch was broken; Replace queues that deletion
// with a tombstone ([DeletedFinalStateUnknown]), which carries the last known state. Resync repeats
// the known state for handlers that want to see it again.
//
// There are three forms with one [Interface]:
//
//   - [DeltaFIFO], in this package, is the textbook form: items, queue and one lock, on one page.
//   - fast.DeltaFIFO has the same behaviour, but producers never wait for the consumer.
//   - inorder.RealFIFO hands out every delta in order of arrival, as client-go's informers do now.
//
// # Guarantees
//
//   - The deltas of a key are handed out in order of arrival. A DeltaFIFO orders keys by their
//     first waiting delta; there is no order between the deltas of different keys.
//   - Every delta is handed out, except one of two adjacent deletions (the one that a watch
//     reported is kept), a deletion of an object that the consumer does not hold, and a Sync for a
//     key with newer deltas.
//   - Only one process function runs, so it may write without a lock against itself.
//   - HasSynced turns true when everything that the first list queued has been processed.
//   - The queue hands out the pointers that it was given, and a tombstone may share its object with
//     the store: neither objects nor Deltas must be changed after they were queued.
//
// # Goroutines
//
// A queue starts none, and any goroutine may call it. Close ends a loop around Pop, which hands out
// the rest and then returns [ErrFIFOClosed]. KeyFunc and Transform run in the caller's goroutine
// without a lock; hooks and most calls of KnownObjects run under the lock.
//
// # Failure
//
// An object without a key, or one that Transform refuses, is not queued, and its key keeps its
// state: a list that holds it does not imply its deletion. Config.Refused gets a [KeyError] or a
// [TransformError], and so does the caller of Add, Update or Delete. A deletion needs only its key:
// if Transform refuses its object, it is queued as a tombstone.
//
// Pop returns the error of process with the deltas, which count as processed unless the error is an
// [ErrRequeue]. If process panics, its deltas count as processed; the panic continues to the
// caller, and the queue stays usable and becomes synced.
//
// # Testing
//
// Every form passes package deltafifotest, and so does client-go's DeltaFIFO; what a form lacks is
// a named capability with the reason.
//
// Next: package deltafifo/fast
package deltafifo
