package store

import "context"

// Cursor is a watch: a position in the window of a collection. It is used by one goroutine at a time. It needs no
// closing and costs nobody anything while it is not read.
type Cursor struct {
	collection *Collection
	number     uint64 // of the event to come
	version    uint64 // everything up to it has been handed out
}

// Watch returns a cursor at a version: what it yields first is the first event after it. It fails with an [*ExpiredError]
// if the window does not reach back that far, with a [*FutureError] if the version has not been written yet, with
// [ErrDropped].
func (c *Collection) Watch(after uint64) (*Cursor, error) {
	c.store.mu.RLock()
	version, number, err := c.positionLocked(after, false)
	c.store.mu.RUnlock()
	if err != nil {
		return nil, c.traced(err)
	}
	return &Cursor{collection: c, number: number, version: version}, nil
}

// Next returns the events that come next, at least one. If there is none yet it waits until there is, or until ctx ends,
// whose error it then returns; what is there is returned even if ctx has ended, so that a ctx that has makes it a look without
// waiting. It fails with an [*ExpiredError] if the window has moved past the cursor, and with
// [ErrDropped] after the last event of a collection that was dropped. The slice is shared and must not be changed.
func (cur *Cursor) Next(ctx context.Context) ([]Event, error) {
	for {
		events, changed, err := cur.take()
		if err != nil {
			return nil, cur.collection.traced(err)
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

// take returns events if there are any, and else what to wait for.
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

// Pending says whether Next would return at once, with events or with an error.
func (cur *Cursor) Pending() bool {
	cur.collection.store.mu.RLock()
	defer cur.collection.store.mu.RUnlock()
	return cur.pendingLocked()
}

func (cur *Cursor) pendingLocked() bool {
	return cur.number < cur.collection.window.next || cur.collection.dropped
}

// closed is what there is to wait for if there is nothing to wait for.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Wait returns a channel that is closed as soon as Next would return at once: for those who wait for other things as
// well. Ask for a new one each time.
func (cur *Cursor) Wait() <-chan struct{} {
	cur.collection.store.mu.RLock()
	defer cur.collection.store.mu.RUnlock()
	if cur.pendingLocked() {
		return closed
	}
	return cur.collection.changed
}

// Progress returns a version such that everything up to it has been handed out, and whether that is all there is. Then it
// is the version of the store, also if this collection has not been written to for long: a bookmark with it spares the
// watcher a list after a compaction.
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
