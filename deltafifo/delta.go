package deltafifo

import "slices"

// DeltaType says what happened to an object. The values are client-go's.
type DeltaType string

const (
	// Added: a watch reported a new object. The consumer may know it all the same (a watch that
	// starts without a position reports every existing object as new), so the store decides.
	Added DeltaType = "Added"
	// Updated: a watch reported a change.
	Updated DeltaType = "Updated"
	// Deleted: a watch reported a deletion, or a list no longer holds the object (see Tombstone).
	Deleted DeltaType = "Deleted"
	// Replaced: a fresh list holds the object. Nobody knows whether it changed since the last list.
	Replaced DeltaType = "Replaced"
	// Sync: nothing happened; the known state is told once more because somebody asked for a resync.
	Sync DeltaType = "Sync"
)

// DeletedFinalStateUnknown, the tombstone, stands for a deletion that nobody watched: the
// connection was down, and when it came back the object was no longer listed. Obj is therefore
// only the last state that was seen, and the zero value when not even that could be found.
type DeletedFinalStateUnknown[T any] struct {
	Key string
	Obj T
}

// Delta is one thing that happened to one object.
type Delta[T any] struct {
	Type DeltaType
	// Object is the state after the change; for Deleted the last state before it.
	Object T
	// Tombstone is nil except for a deletion that was inferred and not watched. Object is then
	// Tombstone.Obj, so whoever only wants the last known state need not look here.
	Tombstone *DeletedFinalStateUnknown[T]
}

// Deltas is what happened to one object since a consumer last took it, oldest first.
// Deltas that Pop hands out are never empty.
type Deltas[T any] []Delta[T]

// Oldest returns the first delta, and false if there is none.
func (d Deltas[T]) Oldest() (Delta[T], bool) {
	if len(d) == 0 {
		return Delta[T]{}, false
	}
	return d[0], true
}

// Newest returns the last delta, and false if there is none.
func (d Deltas[T]) Newest() (Delta[T], bool) {
	if len(d) == 0 {
		return Delta[T]{}, false
	}
	return d[len(d)-1], true
}

// Types returns the delta types, oldest first.
func (d Deltas[T]) Types() []DeltaType {
	types := make([]DeltaType, len(d))
	for i := range d {
		types[i] = d[i].Type
	}
	return types
}

func tombstone[T any](key string, lastSeen T) Delta[T] {
	return Delta[T]{
		Type:      Deleted,
		Object:    lastSeen,
		Tombstone: &DeletedFinalStateUnknown[T]{Key: key, Obj: lastSeen},
	}
}

// record is one key's place in the line together with the deltas that wait there.
type record[T any] struct {
	key    string
	deltas Deltas[T]
	// initial: the key belongs to the initial population and was not processed yet.
	initial bool
	// listedAt is the place in the list from which the record was made; see follower.
	listedAt int32
	// first is where the first delta lives, so that the common record, a key with a single
	// delta, is one allocation. It belongs to whoever holds deltas: records are not reused.
	first [1]Delta[T]
}

func newRecord[T any](key string, d Delta[T]) *record[T] {
	r := &record[T]{key: key}
	r.first[0] = d
	r.deltas = r.first[:]
	return r
}

// append adds d, the newest thing that happened to the key.
//
// Only two adjacent deletions collapse into one; everything else is kept, because a handler may
// care for each step. Of the two the one with more information stays: a deletion that was
// watched beats a tombstone, and of two equals the older one if it was watched (it is the one
// that happened), else the newer one (it carries the later guess).
func (r *record[T]) append(d Delta[T]) (dropped Delta[T], collapsed bool) {
	last := len(r.deltas) - 1
	if last < 0 || d.Type != Deleted || r.deltas[last].Type != Deleted {
		r.deltas = append(r.deltas, d)
		return Delta[T]{}, false
	}
	if r.deltas[last].Tombstone == nil {
		return d, true
	}
	dropped, r.deltas[last] = r.deltas[last], d
	return dropped, true
}

// void empties r, which leaves a gap in the line, and lets go of the objects.
func (r *record[T]) void() {
	r.deltas, r.first = nil, [1]Delta[T]{}
}

// buried returns the tombstone for r's key, with the newest state that r has seen.
func (r *record[T]) buried() Delta[T] {
	return tombstone(r.key, r.deltas[len(r.deltas)-1].Object)
}

// clone returns a record whose deltas share no memory with r's, which a consumer may still hold.
func (r *record[T]) clone() *record[T] {
	return &record[T]{key: r.key, deltas: slices.Clone(r.deltas), initial: r.initial}
}
