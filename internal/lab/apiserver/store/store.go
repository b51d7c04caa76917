// Package store holds the objects of the API server in memory, with versions, a bounded history and
// watches. It stands where etcd and the watch cache stand in a real control plane.
//
// One counter numbers the writes of all collections, so a resource version names one state of
// everything. A collection holds the objects of one resource and is named like its directory in
// etcd; the key of an object is its namespace and name:
//
//	Store ── version 41
//	  ├─ /registry/namespaces   {"", "default"} ─> Object 2    window: 1 2
//	  └─ /registry/configmaps   {"default","a"} ─> Object 39   window: 17 18 23 39 41
//	                            {"default","b"} ─> Object 23            ▲        ▲
//	                                                               a cursor    another
//
// An [Object] is encoded once, when it is written, and shared by all readers. Every collection
// keeps its latest events, the window. A watch is a [Cursor], a position in the window, and has no
// buffer: a watcher that falls out of the window gets an [*ExpiredError] (410 Gone) and lists
// again. A [View] of an earlier version is the present tree with the later events undone, so that
// all pages of a list show one version while others write. The trees are copy-on-write: taking a
// View of the present copies two pointers.
//
// A write names the object that its author has seen and fails if that is no longer the current one.
// A [Guard] is checked atomically with the write. A cursor returns every event of its collection in
// order, without gaps. A version is answered with the content that it always had, or refused, even
// after a collection was dropped and created again.
//
// Views are ordered like keys in etcd, as the text namespace/name: the objects of the namespace
// "a-b" come before those of "a", because a hyphen sorts before a slash.
package store

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
)

// Config configures a Store. The zero value uses the defaults.
type Config struct {
	// Window is how many events each collection keeps. 0 means 10000.
	Window int
	// Committed, if not nil, is called after a write to a collection, on the goroutine that wrote
	// and without a lock. Calls may be concurrent and out of order; the versions give the order of
	// writes.
	Committed func(prefix string, e Event)
}

const (
	defaultWindow = 10000
	firstVersion  = 1
)

// Store holds collections with a common version counter. It is safe for concurrent use and need not
// be closed.
type Store struct {
	window    int
	committed func(prefix string, e Event)

	// mu orders all writes. It is held while a tree and a window change, never while encoding,
	// listing or waiting.
	mu          sync.RWMutex
	version     uint64                 // of the last write
	floor       uint64                 // history before it was compacted
	collections map[string]*Collection // by prefix
}

// New returns an empty store at version 1.
func New(config Config) *Store {
	return &Store{
		window:      cmp.Or(config.Window, defaultWindow),
		committed:   config.Committed,
		version:     firstVersion,
		collections: map[string]*Collection{},
	}
}

// Version returns the version of the last write to any collection. It starts at 1 and never
// decreases.
func (s *Store) Version() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

// Collection returns the collection with a prefix such as "/registry/configmaps", creating it if
// necessary.
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

// Drop removes a collection and its objects, as when a CustomResourceDefinition is deleted. Its
// watchers get their pending events and then [ErrDropped], but no events for the remaining objects.
// A later collection with the same prefix has no history before the drop.
func (s *Store) Drop(prefix string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.collections[prefix]; c != nil {
		delete(s.collections, prefix)
		// The new version distinguishes the state without the objects from the one with them. The
		// floor keeps a new collection with this prefix from claiming that it was always empty. A
		// floor per prefix would be more precise but would grow with every prefix ever used.
		s.version++
		s.floor = s.version
		c.dropLocked()
	}
}

// Compact forgets all history, as kube-apiserver has etcd do every five minutes. Watches and reads
// from earlier versions get an [*ExpiredError]; cursors that are up to date continue. It returns
// the oldest version that is now available.
func (s *Store) Compact() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floor = s.version
	for _, c := range s.collections {
		c.window.compact(s.version)
	}
	return s.version
}

// ErrDropped is returned to the watchers and writers of a dropped collection.
var ErrDropped = errors.New("store: collection dropped")

// ExistsError is returned by Create when the key is taken.
type ExistsError struct {
	Prefix string
	Key    Key
	// Current is the object with the key.
	Current *Object
}

func (e *ExistsError) Error() string { return fmt.Sprintf("store: %s/%s exists", e.Prefix, e.Key) }

// ExpiredError reports that the history needed is no longer kept. The client must list again.
type ExpiredError struct {
	Prefix string
	// Version is the requested version, Oldest the oldest available one.
	Version, Oldest uint64
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("store: %s: version %d is too old, history begins at %d", e.Prefix, e.Version, e.Oldest)
}

// FutureError reports a version that has not been written yet.
type FutureError struct {
	// Version is the requested version, Current the latest one.
	Version, Current uint64
}

func (e *FutureError) Error() string {
	return fmt.Sprintf("store: version %d is in the future, the latest is %d", e.Version, e.Current)
}
