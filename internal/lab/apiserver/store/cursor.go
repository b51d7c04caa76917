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

// View is a collection at one version. It is immutable and safe for concurrent use. It keeps its
// objects alive.
type View struct {
	version uint64
	objects tree // immutable
}

// View returns the collection as it was at a version; 0 is the latest. The latest is nearly free:
// it shares the present tree. An earlier one takes a step for each event since then. It fails with
// an [*ExpiredError] if the window does not reach back that far, with a [*FutureError] if the
// version has not been written yet, and with [ErrDropped].
func (c *Collection) View(at uint64) (*View, error) {
	c.store.mu.Lock()
	version, number, err := c.positionLocked(at, true)
	if err != nil {
		c.store.mu.Unlock()
		return nil, err
	}
	objects := c.objects.copy()
	later := c.window.from(number)
	c.store.mu.Unlock()
	for _, e := range slices.Backward(later) {
		objects.undo(e)
	}
	return &View{version, objects}, nil
}

// positionLocked returns the version and the number of the first event after it. With zeroIsNow,
// version 0 is the latest.
func (c *Collection) positionLocked(version uint64, zeroIsNow bool) (uint64, uint64, error) {
	if version == 0 && zeroIsNow {
		version = c.store.version
	}
	switch {
	case c.dropped:
		return 0, 0, ErrDropped
	case version > c.store.version:
		return 0, 0, &FutureError{Version: version, Current: c.store.version}
	case version < c.window.oldest:
		return 0, 0, &ExpiredError{Prefix: c.prefix, Version: version, Oldest: c.window.oldest}
	}
	return version, c.window.after(version), nil
}

func (v *View) Version() uint64 { return v.version }

// Get returns the object with the given key.
func (v *View) Get(key Key) (*Object, bool) { return v.objects.get(key) }

// Ascend yields the objects of a namespace, or of all if it is "", in the order of their keys. It
// starts after the given key, which need not exist; the zero Key comes first. It ends when yield
// returns false.
func (v *View) Ascend(namespace string, after Key, yield func(*Object) bool) {
	v.objects.ascend(namespace, after, yield)
}

// Len returns the number of objects of a namespace, or of all if it is "".
func (v *View) Len(namespace string) int { return v.objects.count(namespace, Key{}) }

// LenAfter returns how many objects Ascend would yield, without visiting them.
func (v *View) LenAfter(namespace string, after Key) int { return v.objects.count(namespace, after) }
