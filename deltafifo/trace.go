package deltafifo

// Trace is a set of hooks that a DeltaFIFO calls as it turns, in the manner of
// net/http/httptrace. Each field may be nil. Metrics, logs and pictures are made of these.
//
// The queue calls them while it holds its lock, so that the order of the calls is the order of
// what happened. A hook must therefore be quick, must not block and must not call the queue; it
// may keep the Deltas that it is given but not change them.
//
// depth is always the number of waiting keys after the call that is reported.
type Trace[T any] struct {
	// Queued: the delta waits now. A Replace and a Resync report each delta, then themselves.
	Queued func(key string, d Delta[T], depth int)
	// Deduplicated: of two adjacent deletions only kept still waits.
	Deduplicated func(key string, kept, dropped Delta[T])
	// Ignored: the deletion is no news and was dropped, because the consumer does not know the
	// object or has already been told.
	Ignored func(key string, d Delta[T])

	// Replaced: a list of so many items came in, and tombstones were queued for keys it lacks.
	Replaced func(resourceVersion string, items, tombstones, depth int)
	// Resynced: so many keys got a Sync; skipped ones have something newer to tell anyway.
	Resynced func(queued, skipped, depth int)

	// Popped: the deltas are on their way to the process function.
	Popped func(key string, d Deltas[T], isInInitialList bool, depth int)
	// Processed: the process function returned err, or did not return at all (err says so, and
	// the panic goes on). The time since Popped is how long it took.
	Processed func(key string, d Deltas[T], err error)
	// Requeued: the deltas were put back. d holds what waits for the key now, those that came
	// in during processing included.
	Requeued func(key string, d Deltas[T], depth int)

	// Synced: the initial population has been processed.
	Synced func()
	// Closed: Close was called for the first time.
	Closed func(depth int)
}
