// Package indexer is the store of an informer: objects by key, and indexes
// that find objects by anything else.
//
// # Immutable objects! Read this!
//
// The store holds pointers and hands the same pointers to everybody. An object
// that was given to the store, or was read from it, MUST NOT BE CHANGED: not a
// field, not a label in its map, not an element of one of its slices. Somebody
// else is reading it at the same time, indexes were computed from it, and the
// next update compares with it. To change an object make a deep copy, change
// the copy, and send it to the server; the store learns of it through the
// event that comes back. Package informer has a MutationDetector that finds
// those who do not keep to this.
//
// Slices and maps that the store returns are the caller's own.
//
// # Concept
//
// A controller asks two kinds of questions: "what is default/web-1 like?" and
// "which pods run on node n1?". The first is a map lookup. For the second one
// gives the store an index function, object -> values, and the store keeps for
// each value the objects that have it, through every update:
//
//	pods := indexer.New(indexer.Config[*api.Pod]{
//		KeyFunc:  informer.MetaNamespaceKeyFunc[*api.Pod],
//		Indexers: indexer.Indexers[*api.Pod]{"node": byNode},
//	})
//	onNode, err := pods.ByIndex("node", "n1")
//
// client-go keeps a map of objects and two maps of maps (Indexers: name ->
// function, Indices: name -> value -> keys) under one read-write lock. That is
// what [orrery/indexer/naive.Store] does as well, and it is the
// right thing to read first. Its price is that a List of 100,000 objects holds
// the lock for milliseconds, during which no event can be stored, and that
// readers in a loop bring the writer to a few hundred writes a second.
//
// Here readers take no lock. What a reader needs is built from two parts:
//
//   - a table (table.go), a hash table that may be read while it is written,
//     from keys to records, and in each index from values to buckets;
//   - lists (list.go), one of all objects and one in each bucket, cut into
//     chunks of 64. A reader asks for a snapshot; the writer then leaves what
//     it has alone, and copies a chunk when it writes to it, or, in a long
//     list, notes its writes down beside the chunks (view.go). Without readers
//     it writes in place and copies nothing.
//
// Most of what a write costs is waiting for the memory, as in any store of many
// objects: what is known of this one was last looked at 100,000 events ago. So
// the slots of the table lie in cache lines with a tag each (group.go), a
// record has in it what is compared and what is changed (record.go), and a
// write asks for the record before it does anything else (write.go).
//
// The writer never waits for a reader, however slow. The price is memory: an
// object is held by the record, by the list of all objects and by each bucket
// in which it stands, 16 bytes a list.
//
//	generation ── records: "default/web-1" ──> record ── obj (point reads)
//	    │                                        │
//	    ├──────── objects: [.., obj, ..] <── home┤   one list of everything
//	    │                                        │
//	    └──────── indexes: "node" ── "n1" ──> bucket [.., obj, ..] <── places
//
// A record knows its places in the lists. So an update whose index values did
// not change costs one store in each list, the old object is not looked at,
// and an object leaves exactly the buckets in which it stands, whatever its
// index function would say today.
//
// # Guarantees
//
//   - Every read returns the state at one moment between its call and its
//     return. A List never shows half of a Replace.
//   - A write that has returned is seen by every read that begins afterwards,
//     and what one read has seen the next one sees too, also across kinds of
//     reads.
//   - A failing index function costs its own index one object, nothing more:
//     the object is stored, found by key and by all other indexes, and no
//     stale entry remains. The write returns an [*IndexError]; a panic becomes
//     one as well. (client-go panics, on the informer's goroutine, with the
//     store half updated.)
//   - A value without objects takes no memory.
//   - Add and Update are the same: the store decides by the key.
//
// # Goroutines
//
// The package starts none. All methods may be called from any goroutine;
// writers take turns. Key functions, index functions and hooks run on the
// caller's goroutine. An index function runs without a lock, except that
// AddIndexers on a store with objects makes other writers wait; it may read
// the store and must not write to it.
//
// # Failure
//
// [*KeyError], [*IndexError] and [*IndexErrors], [*PanicError],
// [*UnknownIndexError], [*IndexerConflictError]; use errors.As. The first
// means that nothing has changed, the second that all is stored.
//
// # Testing
//
// Package indexertest describes the behaviour as a suite that runs against
// this store, against the reference, and against client-go's. The property
// tests here compare with the reference after every step and check the
// invariants of all lists and tables.
//
// Sources: the article on the controller manager (Indexer, Indexers, Indices),
// client-go's tools/cache documentation.
//
// Next: package informer
package indexer
