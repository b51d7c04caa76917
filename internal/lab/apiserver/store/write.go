package store

import (
	"bytes"
	"maps"
	"sync"

	"orrery/restclient/api"
)

// Guard is a condition that is checked in the same instant as a write: its namespace exists and is not being deleted. An
// error of it prevents the write and is returned as it is. nil is always true. It runs while all writes wait: it must
// be short, must ask only the Reader, and must not keep it.
type Guard func(Reader) error

// Reader reads the state on which a write is going to be made.
type Reader interface {
	// Get returns the current object with a key in the collection with a prefix.
	Get(prefix string, key Key) (*Object, bool)
}

// lockedReader reads a store of which the caller holds the lock.
type lockedReader struct{ store *Store }

// Get implements Reader.
func (r lockedReader) Get(prefix string, key Key) (*Object, bool) {
	c := r.store.collections[prefix]
	if c == nil {
		return nil, false
	}
	return c.objects.get(key)
}

func (g Guard) checkLocked(s *Store) error {
	if g == nil {
		return nil
	}
	return g(lockedReader{s})
}

// buffers are for encoding. What is stored is a copy of the right length.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer keeps one large object from making the pool large.
const maxBuffer = 1 << 20

// withEncoded encodes a draft for as long as use runs.
func withEncoded(d Draft, use func(*encodedDraft) error) error {
	buffer := buffers.Get().(*[]byte)
	e, err := d.encode(*buffer)
	if err == nil {
		err = use(&e)
		*buffer = e.rest
	}
	if cap(*buffer) <= maxBuffer {
		buffers.Put(buffer)
	}
	return err
}

// Create stores a new object. It fails with an [*ExistsError] if there is one with that key, with what guard returned,
// with a [*KeyError], an [*EncodingError] or [ErrDropped].
func (c *Collection) Create(d Draft, guard Guard) (*Object, error) {
	var event Event
	err := withEncoded(d, func(e *encodedDraft) (err error) {
		event, err = c.create(e, guard)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.store.trace.committed(c.prefix, event)
	return event.Object, nil
}

func (c *Collection) create(e *encodedDraft, guard Guard) (Event, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if c.dropped {
		return Event{}, ErrDropped
	}
	if err := guard.checkLocked(c.store); err != nil {
		return Event{}, err
	}
	if current, ok := c.objects.get(e.key); ok {
		return Event{}, &ExistsError{Prefix: c.prefix, Key: e.key, Current: current}
	}
	if maps.Equal(e.labels, c.labels) {
		e.labels = c.labels
	}
	c.labels = e.labels
	event := Event{Type: api.WatchAdded, Object: newObject(e, c.store.version+1)}
	c.commitLocked(event)
	return event, nil
}

// Replace puts a new version in the place of old, which must be what is stored. If it is not any more, swapped is false
// and nothing happens: read again. If the content is the same, the result is old, and there is no event and no new
// version. The key of an object cannot change. Errors are those of Create, without [*ExistsError].
func (c *Collection) Replace(old *Object, d Draft, guard Guard) (replaced *Object, swapped bool, err error) {
	var event Event
	err = withEncoded(d, func(e *encodedDraft) (err error) {
		if e.key != old.Key {
			return &KeyError{Key: e.key, Reason: "the object in its place is " + old.Key.String()}
		}
		e.share(old)
		event, swapped, err = c.replace(old, e, guard)
		return err
	})
	switch {
	case err != nil || !swapped:
		return nil, false, err
	case event.Object == nil:
		return old, true, nil
	}
	c.store.trace.committed(c.prefix, event)
	return event.Object, true, nil
}

// replace returns no event if there is nothing to change.
func (c *Collection) replace(old *Object, e *encodedDraft, guard Guard) (Event, bool, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if c.dropped {
		return Event{}, false, ErrDropped
	}
	if current, _ := c.objects.get(old.Key); current != old {
		return Event{}, false, nil
	}
	if err := guard.checkLocked(c.store); err != nil {
		return Event{}, false, err
	}
	if bytes.Equal(e.rest, old.rest()) && maps.Equal(e.fields, old.Fields) {
		return Event{}, true, nil
	}
	event := Event{Type: api.WatchModified, Object: newObject(e, c.store.version+1), Previous: old}
	c.commitLocked(event)
	return event, true, nil
}

// Delete removes old, which must be what is stored. If it is not any more, swapped is false and nothing happens. last is
// the object with the version of the deletion, as watchers see it.
func (c *Collection) Delete(old *Object) (last *Object, swapped bool) {
	event, swapped := c.delete(old)
	if !swapped {
		return nil, false
	}
	c.store.trace.committed(c.prefix, event)
	return event.Object, true
}

func (c *Collection) delete(old *Object) (Event, bool) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if current, _ := c.objects.get(old.Key); current != old {
		return Event{}, false
	}
	event := Event{Type: api.WatchDeleted, Object: old.at(c.store.version + 1), Previous: old}
	c.commitLocked(event)
	return event, true
}
