package inorder

import (
	"slices"

	"orrery/deltafifo"
)

// The types of items that are not deltas of an object. Only Snapshot shows them.
const (
	ReplacedAll deltafifo.DeltaType = "ReplacedAll" // a list
	SyncAll     deltafifo.DeltaType = "SyncAll"     // a resync
	Bookmark    deltafifo.DeltaType = "Bookmark"    // a resource version of the watch
)

// item is a delta of an object, a ReplacedAll with its list, a SyncAll or a Bookmark.
type item[T any] struct {
	key   string
	delta deltafifo.Delta[T]
	// refused: Transform refused the object of this deletion. At the front the store's takes its
	// place.
	refused         bool
	list            []item[T]       // of a ReplacedAll
	listed          map[string]bool // of a ReplacedAll: the keys of list, and of the refused objects
	resourceVersion string          // the store's version once the item has been processed; "" is unknown
}

// replacedAll returns an item for what AdmitAll has returned.
func replacedAll[T any](keys []string, deltas []deltafifo.Delta[T], listed map[string]bool, rv string) item[T] {
	all := item[T]{delta: deltafifo.Delta[T]{Type: ReplacedAll}, listed: listed, resourceVersion: rv}
	for i, key := range keys {
		all.list = append(all.list, item[T]{key: key, delta: deltas[i]})
	}
	return all
}

// tombstones returns a deletion for each object of the store that is not listed.
func tombstones[T any](store deltafifo.KeyListerGetter[T], listed map[string]bool) []item[T] {
	var vanished []item[T]
	for _, key := range store.ListKeys() {
		if !listed[key] {
			vanished = append(vanished, tombstone(store, key))
		}
	}
	return vanished
}

// tombstone returns a deletion with the state in the store.
func tombstone[T any](store deltafifo.KeyListerGetter[T], key string) item[T] {
	lastSeen, _ := store.GetByKey(key)
	return item[T]{key: key, delta: deltafifo.Tombstone(key, lastSeen)}
}

// syncs returns a Sync for each object of the store.
func syncs[T any](store deltafifo.KeyListerGetter[T]) []item[T] {
	var all []item[T]
	for _, key := range store.ListKeys() {
		if obj, exists := store.GetByKey(key); exists {
			all = append(all, item[T]{key: key, delta: deltafifo.Delta[T]{Type: deltafifo.Sync, Object: obj}})
		}
	}
	return all
}

// isUnknownDeletion reports whether the item is a deletion of an object that the store does not
// hold. The tombstone of a list is not: it was made because the store listed the key.
func isUnknownDeletion[T any](store deltafifo.KeyListerGetter[T], it item[T]) bool {
	if it.delta.Type != deltafifo.Deleted || it.delta.Tombstone != nil && !it.refused {
		return false
	}
	_, exists := store.GetByKey(it.key)
	return !exists
}

// replaceFront returns deltas followed by rest. The last delta gets the resource version of first.
// If there are no deltas, the store has already reached that version, and replaceFront passes it
// on.
func replaceFront[T any](store deltafifo.KeyListerGetter[T], first item[T], deltas, rest []item[T]) []item[T] {
	if len(deltas) == 0 {
		notifyBookmark(store, first.resourceVersion)
		return rest
	}
	deltas[len(deltas)-1].resourceVersion = first.resourceVersion
	return slices.Concat(deltas, rest)
}

// notifyBookmark passes resourceVersion to store.Bookmark, if that method exists.
func notifyBookmark[T any](store deltafifo.KeyListerGetter[T], resourceVersion string) {
	if store, ok := store.(interface{ Bookmark(resourceVersion string) }); ok && resourceVersion != "" {
		store.Bookmark(resourceVersion)
	}
}

// snapshots describes the items. The initial population has this many items left: perhaps the one
// inFlight, and the first ones of items.
func snapshots[T any](items []item[T], initial int, inFlight *deltafifo.KeySnapshot) []deltafifo.KeySnapshot {
	if inFlight != nil && inFlight.IsInInitialList {
		initial--
	}
	all := []deltafifo.KeySnapshot{}
	for i, it := range items {
		types := deltafifo.Deltas[T]{it.delta}.Types()
		all = append(all, deltafifo.KeySnapshot{Key: it.key, Types: types, IsInInitialList: i < initial})
	}
	return all
}
