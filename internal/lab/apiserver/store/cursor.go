package store

import (
	"context"
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

// Next returns at least one event, or blocks until there is one or ctx ends. With an ended ctx it
// still returns pending events, so it can be used to poll. It fails with an [*ExpiredError] if the
// window has moved past the cursor, and with [ErrDropped] after the last event of a dropped
// collection. The slice is shared and must not be changed.
func (cur *Cursor) Next(ctx context.Context) ([]Event, error) {
	for {
		events, changed, err := cur.take()
		if err != nil {
			return nil, err
		}
		if len(events) > 0 {
			return events, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns events if there are any, and otherwise the channel to wait on.
func (cur *Cursor) take() ([]Event, <-chan struct{}, error) {
	c := cur.collection
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	switch {
	case cur.number < c.window.first:
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

// closed is a closed channel.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Wait returns a channel that is closed when Next would not block. Each channel is for one use.
func (cur *Cursor) Wait() <-chan struct{} {
	c := cur.collection
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	if cur.number < c.window.next || c.dropped {
		return closed
	}
	return c.changed
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
// Events are in chunks that are only appended to, so a reader may use a part of a chunk after it
// released the lock, and two hundred watchers read the same memory. An event has left the window
// when its number is below first; its memory is freed with its whole chunk.
//
// Invariants:
//
//   - the versions of events increase with their numbers;
//   - all events with a version above oldest are there;
//   - chunks are not empty, have no gaps, and the first one contains the event first;
//   - bytes is the sum of the sizes of the events from first on;
//   - the limits hold, except that the latest event is always kept.
type window struct {
	maxEvents, maxBytes int

	chunks      []*chunk
	first, next uint64 // numbers of the oldest and of the next event
	oldest      uint64 // no event after this version is missing
	bytes       int
}

// chunk is a run of events.
type chunk struct {
	first  uint64 // number of events[0]
	events []Event
	bytes  int
}

// A chunk is full when it has chunkEvents events or pins its share of the window's bytes.
const (
	chunkEvents  = 128
	chunksPinned = 16
)

func (w *window) append(e Event) {
	last := len(w.chunks) - 1
	if last < 0 || len(w.chunks[last].events) == chunkEvents || w.chunks[last].bytes >= w.maxBytes/chunksPinned {
		w.chunks = append(w.chunks, &chunk{first: w.next})
		last++
	}
	c := w.chunks[last]
	c.events = append(c.events, e)
	c.bytes += e.pinned()
	w.bytes += e.pinned()
	w.next++
	for w.next-w.first > 1 && (w.next-w.first > uint64(w.maxEvents) || w.bytes > w.maxBytes) {
		w.evict()
	}
}

// evict drops the oldest event.
func (w *window) evict() {
	c := w.chunks[0]
	e := c.events[w.first-c.first]
	w.oldest = e.Version()
	w.bytes -= e.pinned()
	w.first++
	if w.first-c.first == uint64(len(c.events)) {
		w.chunks[0] = nil // the array outlives the slice
		w.chunks = w.chunks[1:]
	}
}

// compact drops all events. version must not be before the latest one.
func (w *window) compact(version uint64) {
	w.chunks, w.first, w.bytes, w.oldest = nil, w.next, 0, version
}

// after returns the number of the first event after version, which must not be before oldest.
func (w *window) after(version uint64) uint64 {
	i := sort.Search(len(w.chunks), func(i int) bool {
		events := w.chunks[i].events
		return events[len(events)-1].Version() > version
	})
	if i == len(w.chunks) {
		return w.next
	}
	c := w.chunks[i]
	return c.first + uint64(sort.Search(len(c.events), func(i int) bool { return c.events[i].Version() > version }))
}

// from returns the consecutive events of one chunk from number on: at least one if number is before
// next. The slice is shared and stays valid.
func (w *window) from(number uint64) []Event {
	if number == w.next {
		return nil
	}
	i := sort.Search(len(w.chunks), func(i int) bool { return w.chunks[i].first > number }) - 1
	c := w.chunks[i]
	return c.events[number-c.first : len(c.events) : len(c.events)]
}

// all returns the events from number on, chunk by chunk.
func (w *window) all(number uint64) [][]Event {
	var parts [][]Event
	for number < w.next {
		part := w.from(number)
		parts = append(parts, part)
		number += uint64(len(part))
	}
	return parts
}
