package store

import "errors"

// Trace holds hooks that are called when something happens. Each may be nil. They run on the goroutine that does it, after
// it is done and without a lock, so hooks of two goroutines may run at the same time and in either order: versions tell the
// order of writes.
type Trace struct {
	// Committed is called after a write, with the collection and its event.
	Committed func(prefix string, e Event)
	// Expired is called when a version is asked for that is not kept any more, or a cursor has fallen out of the window.
	Expired func(e *ExpiredError)
	// Rebuilt is called after an earlier version has been made by undoing so many events.
	Rebuilt func(prefix string, version uint64, events int)
	// Compacted is called after all history before a version has been forgotten.
	Compacted func(version uint64)
	// Dropped is called after a collection has been removed.
	Dropped func(prefix string)
}

func (t *Trace) committed(prefix string, e Event) {
	if t != nil && t.Committed != nil {
		t.Committed(prefix, e)
	}
}

func (t *Trace) expired(err error) {
	if t == nil || t.Expired == nil {
		return
	}
	if expired, ok := errors.AsType[*ExpiredError](err); ok {
		t.Expired(expired)
	}
}

func (t *Trace) rebuilt(prefix string, version uint64, events int) {
	if t != nil && t.Rebuilt != nil {
		t.Rebuilt(prefix, version, events)
	}
}

func (t *Trace) compacted(version uint64) {
	if t != nil && t.Compacted != nil {
		t.Compacted(version)
	}
}

func (t *Trace) dropped(prefix string) {
	if t != nil && t.Dropped != nil {
		t.Dropped(prefix)
	}
}
