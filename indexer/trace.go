package indexer

// Trace is told what happens to a store. A nil Trace and nil fields cost one
// branch each and no allocation.
//
// The hooks run on the writer's goroutine when the write is complete and no
// lock is held, so they may read the store and even write to it. With one
// writer they come in the order of the writes; several writers may overtake
// each other between the write and the hook.
type Trace struct {
	// Added: an object with a new key was stored.
	Added func(key string)
	// Updated: the object of a key was replaced by another one.
	Updated func(key string)
	// Deleted: the object of a key was removed.
	Deleted func(key string)
	// Replaced: the whole content was replaced by this many objects.
	Replaced func(objects int, resourceVersion string)
	// IndexFailed: index functions failed during a write, which returns the
	// same errors.
	IndexFailed func(*IndexErrors)
}

func (t *Trace) stored(key string, replaced bool) {
	switch {
	case t == nil:
	case replaced && t.Updated != nil:
		t.Updated(key)
	case !replaced && t.Added != nil:
		t.Added(key)
	}
}

func (t *Trace) deleted(key string) {
	if t != nil && t.Deleted != nil {
		t.Deleted(key)
	}
}

func (t *Trace) replaced(objects int, resourceVersion string) {
	if t != nil && t.Replaced != nil {
		t.Replaced(objects, resourceVersion)
	}
}

func (t *Trace) indexFailed(errs *IndexErrors) {
	if t != nil && t.IndexFailed != nil && errs != nil {
		t.IndexFailed(errs)
	}
}
