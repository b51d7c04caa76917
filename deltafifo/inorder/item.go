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
	key             string
	delta           deltafifo.Delta[T]
	list            []item[T]
	resourceVersion string // the store's version once the item has been processed; "" is unknown
}

func newItem[T any](key string, typ deltafifo.DeltaType, obj T) item[T] {
	return item[T]{key: key, delta: deltafifo.Delta[T]{Type: typ, Object: obj}}
}

func replacedAll[T any](keys []string, objects []T, resourceVersion string) item[T] {
	all := item[T]{delta: deltafifo.Delta[T]{Type: ReplacedAll}, resourceVersion: resourceVersion}
	for i, key := range keys {
		all.list = append(all.list, newItem(key, deltafifo.Replaced, objects[i]))
	}
	return all
}

// tombstones returns a deletion for each object of the store that is not listed.
func tombstones[T any](store deltafifo.KeyListerGetter[T], list []item[T]) []item[T] {
	listed := make(map[string]bool, len(list))
	for _, it := range list {
		listed[it.key] = true
	}
	var vanished []item[T]
	for _, key := range store.ListKeys() {
		if !listed[key] {
			lastSeen, _ := store.GetByKey(key)
			vanished = append(vanished, item[T]{key: key, delta: deltafifo.Tombstone(key, lastSeen)})
		}
	}
	return vanished
}

// syncs returns a Sync for each object of the store.
func syncs[T any](store deltafifo.KeyListerGetter[T]) []item[T] {
	var all []item[T]
	for _, key := range store.ListKeys() {
		if obj, exists := store.GetByKey(key); exists {
			all = append(all, newItem(key, deltafifo.Sync, obj))
		}
	}
	return all
}

// isUnknownDeletion reports whether the item is a deletion of an object that the store does not
// hold. A tombstone is not: it was made because the store listed the key.
func isUnknownDeletion[T any](store deltafifo.KeyListerGetter[T], it item[T]) bool {
	if it.delta.Type != deltafifo.Deleted || it.delta.Tombstone != nil {
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
