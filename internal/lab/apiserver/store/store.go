package store

import (
	"cmp"
	"errors"
	"slices"
	"sync"
)

// Config configures a Store. The zero value is a store with the usual windows.
type Config struct {
	// Window is how many events each collection keeps. 0 means 10000.
	Window int
	// WindowBytes is how many bytes the events of each collection may keep from being freed: the objects that they
	// replaced or deleted. 0 means 32 MiB. The latest event is kept whatever its size.
	WindowBytes int
	// Trace, if not nil, is told what happens.
	Trace *Trace
}

const (
	defaultWindow      = 10000
	defaultWindowBytes = 32 << 20
	firstVersion       = 1
)

// Store holds collections under one counter of versions. It may be used from any goroutine. There is nothing to close.
type Store struct {
	window, windowBytes int
	trace               *Trace

	// One lock orders everything. It is held for as long as it takes to change a tree and a window, never while something
	// is encoded, listed or waited for.
	mu          sync.RWMutex
	version     uint64                 // of the last write
	floor       uint64                 // versions before it are forgotten by every collection
	collections map[string]*Collection // by prefix
}

// New returns an empty store at version 1.
func New(config Config) *Store {
	return &Store{
		window:      cmp.Or(config.Window, defaultWindow),
		windowBytes: cmp.Or(config.WindowBytes, defaultWindowBytes),
		trace:       config.Trace,
		version:     firstVersion,
		collections: map[string]*Collection{},
	}
}

// Version returns the version of the last write of any collection. It starts at 1 and never falls.
func (s *Store) Version() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

// Collection returns the collection with a prefix such as "/registry/configmaps". It is made at first use.
func (s *Store) Collection(prefix string) *Collection {
	s.mu.RLock()
	c := s.collections[prefix]
	s.mu.RUnlock()
	if c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.collections[prefix]; c != nil {
		return c
	}
	c = newCollection(s, prefix)
	s.collections[prefix] = c
	return c
}

// Collections returns all collections in the order of their prefixes.
func (s *Store) Collections() []*Collection {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.collectionsLocked()
}

func (s *Store) collectionsLocked() []*Collection {
	all := make([]*Collection, 0, len(s.collections))
	for _, c := range s.collections {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Collection) int { return cmp.Compare(a.prefix, b.prefix) })
	return all
}

// Drop removes a collection with everything in it, as happens to the objects of a custom resource whose definition goes.
// Its watchers get what they have not seen yet and then [ErrDropped]; nothing is told of the objects that were left in
// it. A collection that is made later under the same prefix knows nothing of the time before.
func (s *Store) Drop(prefix string) {
	s.mu.Lock()
	c := s.collections[prefix]
	if c != nil {
		delete(s.collections, prefix)
		// The number makes the state without the objects another one than the state with them, and the floor keeps a
		// collection that comes after this one from telling that it has always been empty. One floor for all forgets more than
		// it must of collections that are still to be made, but it does not grow with every prefix that ever was.
		s.version++
		s.floor = s.version
		c.dropLocked()
	}
	s.mu.Unlock()
	if c != nil {
		s.trace.dropped(prefix)
	}
}

// Compact forgets all history, as etcd does for kube-apiserver every five minutes: watches and reads from versions before
// now get an [*ExpiredError]. Cursors that have seen everything go on. It returns the version that is the oldest now.
func (s *Store) Compact() uint64 {
	s.mu.Lock()
	version := s.version
	s.floor = version
	for _, c := range s.collections {
		c.window.compact(version)
		c.forgetTreesLocked()
	}
	s.mu.Unlock()
	s.trace.compacted(version)
	return version
}

// Trace holds hooks that are called when something happens. Each may be nil. They run on the goroutine that does it, after
// it is done and without a lock, so hooks of two goroutines may run at the same time and in either order: versions tell the
// order of writes.
type Trace struct {
	// Committed is called after a write, with the collection and its event.
	Committed func(prefix string, e Event)
	// Expired is called when a version is asked for that is not kept any more, or a cursor has fallen out of the window.
	Expired func(e *ExpiredError)
	// Rebuilt is called after an earlier version has been made by undoing so many events.
	Rebuilt func(prefix string, version uint64, events int)
	// Compacted is called after all history before a version has been forgotten.
	Compacted func(version uint64)
	// Dropped is called after a collection has been removed.
	Dropped func(prefix string)
}

func (t *Trace) committed(prefix string, e Event) {
	if t != nil && t.Committed != nil {
		t.Committed(prefix, e)
	}
}

func (t *Trace) expired(err error) {
	if t == nil || t.Expired == nil {
		return
	}
	if expired, ok := errors.AsType[*ExpiredError](err); ok {
		t.Expired(expired)
	}
}

func (t *Trace) rebuilt(prefix string, version uint64, events int) {
	if t != nil && t.Rebuilt != nil {
		t.Rebuilt(prefix, version, events)
	}
}

func (t *Trace) compacted(version uint64) {
	if t != nil && t.Compacted != nil {
		t.Compacted(version)
	}
}

func (t *Trace) dropped(prefix string) {
	if t != nil && t.Dropped != nil {
		t.Dropped(prefix)
	}
}
