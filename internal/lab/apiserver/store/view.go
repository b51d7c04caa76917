package store

import "slices"

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
