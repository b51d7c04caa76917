// Package fast is the form of package indexer whose readers do not block writers.
//
// # Concept
//
// With maps under a read-write lock, a List of 100,000 objects holds the lock for milliseconds, and
// no event is stored meanwhile. Readers that list in a loop limit the writer to a few hundred
// writes per second. Here it is three orders of magnitude more. The parts:
//
//   - Lists (list.go) of objects, one of all and one for each value of an index, cut into chunks of
//     64. A reader holds the lock while it takes a snapshot, which is a few loads and stores
//     regardless of the length, and copies without it. The next write to a chunk copies the chunk.
//   - Records (index.go), one for each key, which know the positions of their object in the lists.
//     So an update with unchanged index values is one store in each list.
//   - A Swiss table (table.go) from keys to records that GetByKey reads without a lock. A lookup
//     reads one cache line of it; most of the time of a write is spent waiting for memory. With a
//     Go map under the lock instead, an update of one object of 100,000 takes 1.3 times as long,
//     and point reads and writes wait for each other. [orrery/internal/table.Table] needs that lock
//     as well: its removal moves slots back, and a reader without the lock would miss them.
//
// ByIndex copies a bucket of adjacent pointers, where client-go looks up each key of a set in its
// map. It takes a tenth of the time.
//
// The price is memory: an object is in its record, in the list of all objects and in the list of
// each of its index values, 16 bytes per list; and the first write after a snapshot copies a chunk.
//
// # Guarantees
//
// Those of package indexer. In addition:
//
//   - A writer waits for a reader only while it takes a snapshot, except for ListIndexFuncValues
//     and Snapshot, which hold the lock for a time proportional to the number of values.
//   - GetByKey and Len take no lock.
//   - Index functions run without the lock, except in AddIndexers on a store with objects.
//   - An update leaves no stale entry even if the old object was changed or the index function now
//     returns other values for it.
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
