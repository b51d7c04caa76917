// Package inorder is the queue that client-go's informers use now: every delta in order of arrival.
//
// # Concept
//
// A DeltaFIFO gives a key one place, the place of its first delta, and later deltas join it there.
// So an update of version 12 can reach the store before one of version 11 of another key: the
// sentence "the store is as of version 11" is never true, and a controller cannot tell whether its
// cache shows its own last write. KEP-5647 needs that sentence to detect stale caches. That is why
// client-go moved to RealFIFO (InOrderInformers, always on since Kubernetes 1.36): a plain slice of
// deltas, processed from the front. The price is that nothing accumulates: a key that changes a
// thousand times takes a thousand turns, and other keys wait behind it.
//
//	first ──▶ Added ns/a │ Updated ns/a │ ReplacedAll [ns/a ns/b] at 40 │ Added ns/c │ Bookmark 57 ◀── last
//
// A list is one item, and so is a resync. When such an item reaches the front, everything before it
// has been processed, and the store shows exactly the state to compare the list with. Only then it
// becomes single deltas: tombstones for objects in the store but not in the list, then the listed
// objects. The queue therefore needs no rule for keys that wait or are in flight, and the store
// also decides then whether to drop a deletion.
//
// A bookmark is a resource version that the watch has reached without changes. It is queued like a
// delta. When it reaches the front, it is passed to the store's method Bookmark, if that exists. So
// is the resource version of a list once its last delta has been processed.
//
// client-go leaves the comparison of a list to the consumer, which replaces the store in one step.
// Here the queue compares, so that all forms have one interface.
//
// # Guarantees
//
// Those of package deltafifo, except the capabilities that TestContract lists as missing. Deltas
// are handed out one by one, in order of arrival; those of a list or of a resync are adjacent.
// Producers do not wait for a process function.
//
// # Goroutines
//
// It starts none. The goroutine that moves a list to the front compares it with the store while
// holding the lock.
//
// # Failure
//
// As in package deltafifo, but nothing is requeued: an ErrRequeue is an error like any other.
//
// # Testing
//
// The contract, which asserts the other behaviour for each missing capability or leaves the case
// out; and tests of bookmarks, resource versions and the moment when a list is compared.
//
// Next: package indexer
package inorder
