package indexer

// Trace is a set of hooks for a store's writes. A nil Trace or hook costs one branch and no
// allocation.
//
// A hook runs on the writer's goroutine after the write, without a lock: it may read the store and
// even write to it. The hooks of one writer run in the order of its writes; those of several
// writers may run in another order than the writes.
type Trace struct {
	Added       func(key string)                          // an object with a new key was stored
	Updated     func(key string)                          // the object with this key was replaced
	Deleted     func(key string)                          // the object with this key was removed
	Replaced    func(objects int, resourceVersion string) // the content was replaced by this many objects
	IndexFailed func(*IndexErrors)                        // during a write, which returns the same errors
}

// ReportStored calls Updated if the key existed before, else Added. The Report methods are for
// stores; they may be called on a nil Trace.
func (t *Trace) ReportStored(key string, existed bool) {
	switch {
	case t == nil:
	case existed && t.Updated != nil:
		t.Updated(key)
	case !existed && t.Added != nil:
		t.Added(key)
	}
}

// ReportDeleted calls Deleted if the key existed.
func (t *Trace) ReportDeleted(key string, existed bool) {
	if t != nil && t.Deleted != nil && existed {
		t.Deleted(key)
	}
}

// ReportReplaced calls Replaced.
func (t *Trace) ReportReplaced(objects int, resourceVersion string) {
	if t != nil && t.Replaced != nil {
		t.Replaced(objects, resourceVersion)
	}
}

// ReportFailed calls IndexFailed if there are errors, and returns them as a write does: nil without
// errors, the [*IndexError] if it is the only one, and errs otherwise.
func (t *Trace) ReportFailed(errs *IndexErrors) error {
	if errs == nil {
		return nil
	}
	if t != nil && t.IndexFailed != nil {
		t.IndexFailed(errs)
	}
	if errs.Total == 1 {
		return errs.First[0]
	}
	return errs
}
