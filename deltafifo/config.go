package deltafifo

// KeyListerGetter is what a DeltaFIFO asks about the consumer's store. *indexer.Indexer is one.
//
// The store has to be up to date when the process function returns: what it says about a key
// that neither waits nor is being processed is taken for the truth. Both methods must be safe
// for use from several goroutines and must not call the queue, which holds its lock for some of
// the lookups.
type KeyListerGetter[T any] interface {
	// ListKeys returns the keys of all objects, in any order.
	ListKeys() []string
	// GetByKey returns the object with this key, and whether there is one.
	GetByKey(key string) (obj T, exists bool)
}

// Config describes a DeltaFIFO. Only KeyFunc is required.
type Config[T any] struct {
	// KeyFunc returns the key of an object: "namespace/name", or "name" if it has no namespace.
	// It runs in the goroutine that calls Add, Update, Delete or Replace, outside any lock, and
	// must return the same key for an object before and after Transform. Required.
	KeyFunc func(obj T) (string, error)

	// KnownObjects is the store that the consumer fills. It tells which objects vanished when a
	// list no longer holds them, which deletions are news, and what to tell on Resync. Default:
	// nil, which means that only what waits in the queue is known; a deletion of anything else
	// is then ignored and Resync does nothing.
	KnownObjects KeyListerGetter[T]

	// Transform changes an object before it is queued, typically to drop fields that nobody
	// reads. It sees each object that comes in once, and never a tombstone or a Sync: those were
	// transformed when they came in. It runs where KeyFunc runs. Default: nil, objects are
	// queued as they are.
	Transform func(obj T) (T, error)

	// Trace is told what happens. Default: nil, nobody is.
	Trace *Trace[T]
}
