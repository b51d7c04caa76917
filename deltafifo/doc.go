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
// [Interface] names the guarantees, who runs what, and what happens on failure.
//
// # Testing
//
// Every form passes package deltafifotest, and so does client-go's DeltaFIFO; what a form lacks is
// a named capability with the reason.
//
// Next: package deltafifo/fast
package deltafifo
