package store

import (
	"bytes"
	"maps"

	"orrery/restclient/api"
)

// Guard is a condition that is checked atomically with a creation, for example that its namespace
// exists and is not terminating. Its error prevents the write and is returned unchanged. Nil is
// always true. All writes wait while it runs: it must be short, use only get, and not retain it.
// get returns the current object with a key in the collection with a prefix.
type Guard func(get func(prefix string, key Key) (*Object, bool)) error

func (s *Store) getLocked(prefix string, key Key) (*Object, bool) {
	c := s.collections[prefix]
	if c == nil {
		return nil, false
	}
	return c.objects.get(key)
}

// report calls the hook for an event that has been committed.
func (c *Collection) report(e Event) {
	if c.store.committed != nil {
		c.store.committed(c.prefix, e)
	}
}

// Create stores a new object. It fails with an [*ExistsError] if the key is taken, with the error
// of guard, or with [ErrDropped].
func (c *Collection) Create(d Draft, guard Guard) (*Object, error) {
	e := d.encode()
	event, err := c.create(&e, guard)
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
	if guard != nil {
		if err := guard(c.store.getLocked); err != nil {
			return Event{}, err
		}
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
// returns old and creates neither event nor version. The key cannot change. It fails with
// [ErrDropped].
func (c *Collection) Replace(old *Object, d Draft) (replaced *Object, swapped bool, err error) {
	e := d.encode()
	event, swapped, err := c.replace(old, &e)
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
func (c *Collection) replace(old *Object, e *encodedDraft) (Event, bool, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if c.dropped {
		return Event{}, false, ErrDropped
	}
	if current, _ := c.objects.get(old.Key); current != old {
		return Event{}, false, nil
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
	event := Event{Type: api.WatchDeleted, Object: old.At(c.store.version + 1), Previous: old}
	c.commitLocked(event)
	return event, true
}
