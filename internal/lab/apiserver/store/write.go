package store

import (
	"bytes"
	"fmt"
	"maps"
	"sync"

	"orrery/restclient/api"
)

// Guard is a condition that is checked atomically with a write, for example that its namespace
// exists and is not terminating. Its error prevents the write and is returned unchanged. Nil is
// always true. All writes wait while it runs: it must be short, use only the Reader, and not retain
// it.
type Guard func(Reader) error

// Reader reads the state that a write is applied to.
type Reader interface {
	// Get returns the current object with the given key in the collection with the given prefix.
	Get(prefix string, key Key) (*Object, bool)
}

// lockedReader reads a store whose lock the caller holds.
type lockedReader struct{ store *Store }

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

// buffers are used for encoding. Stored objects are copies of the right size.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer keeps large buffers out of the pool.
const maxBuffer = 1 << 20

// withEncoded calls use with an encoded draft, which is valid during the call.
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

// report calls the hook for an event that has been committed.
func (c *Collection) report(e Event) {
	if c.store.committed != nil {
		c.store.committed(c.prefix, e)
	}
}

// Create stores a new object. It fails with an [*ExistsError] if the key is taken, with the error
// of guard, with [ErrDropped], or if the draft has no name or cannot be encoded.
func (c *Collection) Create(d Draft, guard Guard) (*Object, error) {
	var event Event
	err := withEncoded(d, func(e *encodedDraft) (err error) {
		event, err = c.create(e, guard)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.report(event)
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
	event := Event{Type: api.WatchAdded, Object: newObject(e, c.store.version+1)}
	c.commitLocked(event)
	return event, nil
}

// Replace stores a new version in place of old, which must be the current one. Otherwise swapped is
// false and nothing happens: the caller must read again. If the content is unchanged, Replace
// returns old and creates neither event nor version. The key cannot change. Errors are those of
// Create, except [*ExistsError].
func (c *Collection) Replace(old *Object, d Draft, guard Guard) (replaced *Object, swapped bool, err error) {
	var event Event
	err = withEncoded(d, func(e *encodedDraft) (err error) {
		if e.key != old.Key {
			return fmt.Errorf("store: %q replaces %q", e.key.String(), old.Key.String())
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
	c.report(event)
	return event.Object, true, nil
}

// replace returns no event if nothing changes.
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

// Delete removes old, which must be the current version. Otherwise swapped is false and nothing
// happens. last is the object with the version of the deletion, as watchers see it.
func (c *Collection) Delete(old *Object) (last *Object, swapped bool) {
	event, swapped := c.delete(old)
	if !swapped {
		return nil, false
	}
	c.report(event)
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
