package store

import (
	"slices"
	"sort"
)

// Cursor is a watch: a position in the window of a collection. It must be used by one goroutine at
// a time. It need not be closed.
type Cursor struct {
	collection *Collection
	number     uint64 // of the next event
	version    uint64 // everything up to it has been returned
}

// Watch returns a cursor that starts with the first event after the given version. It fails with an
// [*ExpiredError] if the window does not reach back that far, with a [*FutureError] if the version
// has not been written yet, and with [ErrDropped].
func (c *Collection) Watch(after uint64) (*Cursor, error) {
	c.store.mu.RLock()
	version, number, err := c.positionLocked(after, false)
	c.store.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return &Cursor{collection: c, number: number, version: version}, nil
}

// Poll returns the next events. If there are none it returns a channel that is closed when there
// may be some. It fails with an [*ExpiredError] if the window has moved past the cursor, and with
// [ErrDropped] after the last event of a dropped collection. The slice is shared and must not be
// changed.
func (cur *Cursor) Poll() ([]Event, <-chan struct{}, error) {
	c := cur.collection
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	switch {
	case cur.number < c.window.first():
		return nil, nil, &ExpiredError{Prefix: c.prefix, Version: cur.version, Oldest: c.window.oldest}
	case cur.number < c.window.next:
		events := c.window.from(cur.number)
		cur.number += uint64(len(events))
		cur.version = events[len(events)-1].Version()
		return events, nil, nil
	case c.dropped:
		return nil, nil, ErrDropped
	}
	return nil, c.changed, nil
}

// Progress returns a version up to which everything has been returned, and whether that is the
// latest. If so it is the version of the store, even if this collection has not changed: a bookmark
// with it saves the watcher a list after a compaction.
func (cur *Cursor) Progress() (version uint64, upToDate bool) {
	c := cur.collection
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	if cur.number < c.window.next {
		return cur.version, false
	}
	if !c.dropped {
		cur.version = c.store.version
	}
	return cur.version, true
}

// window is the recent history of a collection: its latest events, numbered consecutively. It is
// guarded by the lock of the store.
//
// Events are only appended, and dropped from the front, so a reader may use a part of the slice
// after it released the lock, and two hundred watchers read the same memory. An array that is full
// is replaced by one without the dropped events, which frees them.
//
// Invariants:
//
//   - the versions of events increase with their numbers;
//   - all events with a version above oldest are there;
//   - there are at most maxEvents.
type window struct {
	maxEvents int

	events []Event
	next   uint64 // number of the next event
	oldest uint64 // no event after this version is missing
}

// first returns the number of the oldest event.
func (w *window) first() uint64 { return w.next - uint64(len(w.events)) }

func (w *window) append(e Event) {
	w.events = append(w.events, e)
	w.next++
	if len(w.events) > w.maxEvents {
		w.oldest = w.events[0].Version()
		w.events = w.events[1:]
	}
}

// compact drops all events. version must not be before the latest one.
func (w *window) compact(version uint64) { w.events, w.oldest = nil, version }

// after returns the number of the first event after version, which must not be before oldest.
func (w *window) after(version uint64) uint64 {
	return w.first() + uint64(sort.Search(len(w.events), func(i int) bool { return w.events[i].Version() > version }))
}

// from returns the events from number on. The slice is shared and stays valid.
func (w *window) from(number uint64) []Event { return slices.Clip(w.events[number-w.first():]) }
