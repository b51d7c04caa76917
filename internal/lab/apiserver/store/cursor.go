package store

import "context"

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
