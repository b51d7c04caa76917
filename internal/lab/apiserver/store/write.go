package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

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

// write commits the event that decide returns, and calls the hook for it. An event without an
// object changes nothing.
func (c *Collection) write(decide func() (Event, error)) (*Object, error) {
	event, err := c.decide(decide)
	if err == nil && event.Object != nil && c.store.committed != nil {
		c.store.committed(c.prefix, event)
	}
	return event.Object, err
}

func (c *Collection) decide(decide func() (Event, error)) (Event, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if c.dropped {
		return Event{}, ErrDropped
	}
	event, err := decide()
	if err == nil && event.Object != nil {
		c.commitLocked(event)
	}
	return event, err
}

// errNotCurrent reports that an object is no longer the current one.
var errNotCurrent = errors.New("store: another write was faster")

// Create stores a new object. It fails with an [*ExistsError] if the key is taken, with the error
// of guard, or with [ErrDropped].
func (c *Collection) Create(d Draft, guard Guard) (*Object, error) {
	e := d.encode()
	return c.write(func() (Event, error) {
		if guard != nil {
			if err := guard(c.store.getLocked); err != nil {
				return Event{}, err
			}
		}
		if current, ok := c.objects.get(e.key); ok {
			return Event{}, &ExistsError{Prefix: c.prefix, Key: e.key, Current: current}
		}
		return Event{Type: api.WatchAdded, Object: newObject(&e, c.store.version+1)}, nil
	})
}

// Replace stores a new version in place of old, which must be the current one. Otherwise swapped
// is false and nothing happens: the caller must read again. If the content is unchanged, Replace
// returns old and creates neither event nor version. The key cannot change. It fails with
// [ErrDropped].
func (c *Collection) Replace(old *Object, d Draft) (replaced *Object, swapped bool, err error) {
	e := d.encode()
	replaced, err = c.write(func() (Event, error) {
		if current, _ := c.objects.get(old.Key); current != old {
			return Event{}, errNotCurrent
		}
		if bytes.Equal(e.rest, old.rest()) && maps.Equal(e.fields, old.Fields) {
			return Event{}, nil
		}
		return Event{Type: api.WatchModified, Object: newObject(&e, c.store.version+1), Previous: old}, nil
	})
	switch {
	case err == errNotCurrent:
		return nil, false, nil
	case err == nil && replaced == nil:
		replaced = old
	}
	return replaced, err == nil, err
}

// Delete removes old, which must be the current version. Otherwise swapped is false and nothing
// happens. last is the object with the version of the deletion, as watchers see it.
func (c *Collection) Delete(old *Object) (last *Object, swapped bool) {
	last, err := c.write(func() (Event, error) {
		if current, _ := c.objects.get(old.Key); current != old {
			return Event{}, errNotCurrent
		}
		return Event{Type: api.WatchDeleted, Object: old.At(c.store.version + 1), Previous: old}, nil
	})
	return last, err == nil
}

// Draft is an object to be stored. The store does not retain it.
type Draft struct {
	// Object is the tree, with name, namespace and uid in its metadata. Its kind, apiVersion and
	// resourceVersion are ignored: readers choose the first two, the write determines the third.
	Object *api.Unstructured
	// Fields are the values for field selectors, besides name and namespace. Nil means none.
	Fields map[string]string
}

// encodedDraft is an encoded draft that lacks only its version.
type encodedDraft struct {
	key      Key
	uid      string
	labels   map[string]string
	fields   map[string]string
	deleting bool

	rest        []byte // from the quote after the version to the end of the object
	metadataEnd int    // offset in rest of the end of the metadata
}

// encode encodes a draft. It panics if that is not JSON.
func (d Draft) encode() encodedDraft {
	e := encodedDraft{
		key:      Key{Namespace: strings.Clone(d.Object.GetNamespace()), Name: strings.Clone(d.Object.GetName())},
		uid:      strings.Clone(d.Object.GetUID()),
		deleting: d.Object.Nested("metadata", "deletionTimestamp") != nil,
	}
	if labels := d.Object.GetLabels(); len(labels) > 0 {
		e.labels = labels
	}
	if len(d.Fields) > 0 {
		e.fields = maps.Clone(d.Fields)
	}
	metadata, _ := d.Object.Nested("metadata").(map[string]any) // not nil: it has a name
	e.rest = append(make([]byte, 0, 1<<10), '"')
	e.rest = append(appendMembers(e.rest, metadata, "resourceVersion"), '}')
	e.metadataEnd = len(e.rest)
	e.rest = append(appendMembers(e.rest, d.Object.Object, "metadata", "kind", "apiVersion"), '}')
	return e
}

// Preview returns the object that a draft would become, for a dry run. Version 0 omits the
// resourceVersion, for an object that was never stored.
func Preview(d Draft, version uint64) *Object {
	e := d.encode()
	return newObject(&e, version)
}

// appendMembers appends ",name":value for each member of an object but those excepted, sorted by
// name, so that equal trees have equal encodings.
func appendMembers(dst []byte, object map[string]any, except ...string) []byte {
	var few [16]string // avoids an allocation for small objects
	names := few[:0]
	for name := range object {
		if !slices.Contains(except, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value, err := json.Marshal(object[name])
		if err != nil {
			panic("store: " + name + " cannot be encoded: " + err.Error())
		}
		dst = appendString(append(dst, ','), name)
		dst = append(append(dst, ':'), value...)
	}
	return dst
}

func appendString(dst []byte, text string) []byte {
	encoded, _ := json.Marshal(text) // cannot fail for a string
	return append(dst, encoded...)
}
