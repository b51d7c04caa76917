// Package fast is the store of package indexer in a form in which readers do not stop writers.
//
// # Concept
//
// With maps under a read-write lock, a List of 100,000 objects holds the lock for milliseconds, and
// no event is stored meanwhile. Readers that list in a loop bring the writer to a few hundred
// writes a second. Here it is three orders of magnitude more. The parts:
//
//   - Lists (list.go) of objects, one of all and one for each value of an index, cut into chunks of
//     64. A reader holds the lock while it takes a snapshot, which is a few loads and stores
//     however long the list is, and copies without it. The next write to a chunk copies the chunk.
//   - Records (index.go), one for each key, which know where their object is in the lists. So an
//     update with unchanged index values is one store in each list.
//   - A Swiss table (table.go) from keys to records that is read without a lock, for GetByKey. A
//     search reads one cache line of it; most of the time of a write is waiting for memory. With a
//     Go map under the lock in its place an update of one object of 100,000 takes 1.3 times as long,
//     and point reads and writes wait for each other.
//     [orrery/internal/table.Table] needs that lock as well: its removal moves slots back, and a
//     reader without the lock would miss them.
//
// ByIndex copies a bucket of pointers that lie side by side, where client-go looks each key of a
// set up in its map: a tenth of the time.
//
// The price is memory: an object is in its record, in the list of all objects and in the list of
// each of its index values, 16 bytes a list; and a chunk is copied by the first write after a
// snapshot.
//
// # Guarantees
//
// Those of package indexer. In addition:
//
//   - A writer waits for a reader no longer than a snapshot takes, except for ListIndexFuncValues
//     and Snapshot, which hold the lock for as long as there are values.
//   - GetByKey and Len take no lock.
//   - Index functions run without the lock, except in AddIndexers on a store with objects.
//   - An update leaves no stale entry even if the old object was changed or the index function
//     returns something else by now.
//
// # Goroutines
//
// The package starts none.
//
// # Failure
//
// As in package indexer.
//
// # Testing
//
// indexertest.Run; and a property test compares the store with the textbook form after every step
// and checks the invariants of all lists and tables.
//
// Next: package informer
package fast
