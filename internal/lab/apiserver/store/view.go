package store

// View is a collection as it was at one version. It never changes and may be read from any goroutine, without stopping
// anybody. As long as it is held, so are its objects.
type View struct {
	version uint64
	objects tree // never written again
}

// View returns the collection as it was at a version; 0 is now. Now costs next to nothing; an earlier version costs a
// step for each event since, the first time. It fails with an [*ExpiredError] if the window does not reach back to the
// version, with a [*FutureError] if it has not been written yet, with [ErrDropped].
func (c *Collection) View(at uint64) (*View, error) {
	c.store.mu.RLock()
	version, number, err := c.positionLocked(at, true)
	past, found := c.pastTreeLocked(number)
	c.store.mu.RUnlock()
	switch {
	case err != nil:
		return nil, c.traced(err)
	case found:
		return &View{version, past}, nil
	}
	return c.makeView(at)
}

// makeView makes the state that is not at hand. The present is copied under the lock, and what was written since is
// undone in the copy, without it.
func (c *Collection) makeView(at uint64) (*View, error) {
	c.store.mu.Lock()
	version, number, err := c.positionLocked(at, true)
	if err != nil {
		c.store.mu.Unlock()
		return nil, c.traced(err)
	}
	objects := c.objects.copy()
	parts := c.window.all(number)
	if len(parts) == 0 {
		c.rememberTreeLocked(number, objects)
		c.store.mu.Unlock()
		return &View{version, objects}, nil
	}
	c.store.mu.Unlock()

	undone := 0
	for i := len(parts) - 1; i >= 0; i-- {
		for k := len(parts[i]) - 1; k >= 0; k-- {
			objects.undo(parts[i][k])
			undone++
		}
	}
	c.store.mu.Lock()
	c.rememberTreeLocked(number, objects)
	c.store.mu.Unlock()
	c.store.trace.rebuilt(c.prefix, version, undone)
	return &View{version, objects}, nil
}

// positionLocked finds the place of a version in the window: the number of the first event after it. zeroIsNow gives the
// version 0 the meaning of now.
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

// traced tells the hook of history that was asked for in vain.
func (c *Collection) traced(err error) error {
	c.store.trace.expired(err)
	return err
}

// Version returns the version at which the view was taken.
func (v *View) Version() uint64 { return v.version }

// Get returns the object with a key.
func (v *View) Get(key Key) (*Object, bool) { return v.objects.get(key) }

// Ascend yields the objects of a namespace, of all namespaces if it is "", in the order of their keys. It starts after a
// key, which need not exist; the zero Key is before all. It ends when yield returns false.
func (v *View) Ascend(namespace string, after Key, yield func(*Object) bool) {
	v.objects.ascend(namespace, after, yield)
}

// Len returns the number of objects of a namespace, of all namespaces if it is "".
func (v *View) Len(namespace string) int { return v.objects.count(namespace, Key{}) }

// LenAfter returns how many objects Ascend would yield: what remains of a list after a page. It does not go through them.
func (v *View) LenAfter(namespace string, after Key) int { return v.objects.count(namespace, after) }

// Snapshot describes a store at one moment, in plain data.
type Snapshot struct {
	// Version is the version of the last write.
	Version uint64 `json:"version"`
	// Collections are in the order of their prefixes.
	Collections []CollectionSnapshot `json:"collections"`
}

// CollectionSnapshot describes a collection.
type CollectionSnapshot struct {
	Prefix string `json:"prefix"`
	// Objects is their number, Bytes about what they take of memory.
	Objects int `json:"objects"`
	Bytes   int `json:"bytes"`
	// WindowEvents is the number of events that are kept, WindowBytes about the memory that only they keep.
	WindowEvents int `json:"windowEvents"`
	WindowBytes  int `json:"windowBytes"`
	// Oldest is the oldest version that can be read or watched from.
	Oldest uint64 `json:"oldest"`
}

// Snapshot returns a description of the store.
func (s *Store) Snapshot() Snapshot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	snapshot := Snapshot{Version: s.version}
	for _, c := range s.collectionsLocked() {
		snapshot.Collections = append(snapshot.Collections, CollectionSnapshot{
			Prefix: c.prefix, Objects: c.objects.len(), Bytes: c.bytes,
			WindowEvents: int(c.window.next - c.window.first), WindowBytes: c.window.bytes, Oldest: c.window.oldest,
		})
	}
	return snapshot
}
