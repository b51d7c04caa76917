package fast

import (
	"iter"
	"slices"

	"orrery/deltafifo"
	"orrery/internal/table"
)

// record is one key's place in the queue together with its waiting deltas.
type record[T any] struct {
	key    string
	deltas deltafifo.Deltas[T]
	// initial: the key belongs to the initial population and has not been processed.
	initial bool
	// first holds the first delta, so that the common record, with a single delta, is one
	// allocation. The consumer may keep it: records are not reused.
	first [1]deltafifo.Delta[T]
}

func newRecord[T any](key string, d deltafifo.Delta[T]) *record[T] {
	r := &record[T]{key: key}
	r.first[0] = d
	r.deltas = r.first[:]
	return r
}

// append adds d. If d and the last delta are both deletions, it keeps only the older one, or the
// newer one if the older is a tombstone.
func (r *record[T]) append(d deltafifo.Delta[T]) (dropped deltafifo.Delta[T], collapsed bool) {
	last := len(r.deltas) - 1
	if last < 0 || d.Type != deltafifo.Deleted || r.deltas[last].Type != deltafifo.Deleted {
		r.deltas = append(r.deltas, d)
		return deltafifo.Delta[T]{}, false
	}
	if r.deltas[last].Tombstone == nil {
		return d, true
	}
	dropped, r.deltas[last] = r.deltas[last], d
	return dropped, true
}

// clear empties r, which leaves a gap in the queue, and releases the objects.
func (r *record[T]) clear() {
	r.deltas, r.first = nil, [1]deltafifo.Delta[T]{}
}

// tombstone returns the tombstone for r's key with the newest state in r.
func (r *record[T]) tombstone() deltafifo.Delta[T] { return deltafifo.Tombstone(r.key, r.newest()) }

func (r *record[T]) newest() T { return r.deltas[len(r.deltas)-1].Object }

// clone returns a record whose deltas share no memory with r's, which a consumer may still hold.
func (r *record[T]) clone() *record[T] {
	return &record[T]{key: r.key, deltas: slices.Clone(r.deltas), initial: r.initial}
}

func (r *record[T]) snapshot() deltafifo.KeySnapshot {
	return deltafifo.KeySnapshot{Key: r.key, Types: r.deltas.Types(), IsInInitialList: r.initial}
}

// keepCapacity is how many places an empty queue keeps. A larger slice and table would otherwise
// stay in memory after a list of 100,000 objects.
const keepCapacity = 1024

// queue holds the waiting records in order of arrival, one per key, without locks, stores or
// consumers.
//
// Invariant: the records in order[head:] that hold deltas are exactly those in byKey, each once.
// A record without deltas was removed from the middle; its place is skipped.
type queue[T any] struct {
	byKey table.Table[string, *record[T]]
	order []*record[T]
	head  int
}

func newQueue[T any](capacity int) *queue[T] {
	return &queue[T]{
		byKey: table.New[string, *record[T]](capacity),
		order: make([]*record[T], 0, capacity),
	}
}

// len returns the number of keys.
func (q *queue[T]) len() int { return q.byKey.Len() }

// get returns the record of the key, or nil.
func (q *queue[T]) get(key string) *record[T] {
	if _, e := q.byKey.Find(key, q.byKey.Hash(key)); e != nil {
		return e.Value
	}
	return nil
}

// place returns where byKey has the record of the key, or room with nil for it.
func (q *queue[T]) place(key string) **record[T] {
	_, e := q.byKey.Obtain(key, q.byKey.Hash(key))
	return &e.Value
}

// forget removes the key, which must be present, from byKey.
func (q *queue[T]) forget(key string) {
	ref, _ := q.byKey.Find(key, q.byKey.Hash(key))
	q.byKey.Remove(ref)
}

// all yields the records in order. Meanwhile the queue may only be changed by remove.
func (q *queue[T]) all() iter.Seq[*record[T]] {
	return func(yield func(*record[T]) bool) {
		for _, r := range q.order[q.head:] {
			if r != nil && len(r.deltas) > 0 && !yield(r) {
				return
			}
		}
	}
}

// push appends the record. If its key already has one, push returns that instead.
func (q *queue[T]) push(r *record[T]) (present *record[T]) {
	place := q.place(r.key)
	if *place != nil {
		return *place
	}
	*place = r
	// If more than half of a full slice is consumed, moving the rest down is cheaper than growing
	// and keeps the slice in proportion to the number of waiting keys.
	if len(q.order) == cap(q.order) && q.head > len(q.order)/2 {
		n := copy(q.order, q.order[q.head:])
		clear(q.order[n:])
		q.order, q.head = q.order[:n], 0
	}
	q.order = append(q.order, r)
	return nil
}

// pop removes and returns the first record. The queue must not be empty.
func (q *queue[T]) pop() *record[T] {
	for {
		r := q.order[q.head]
		q.order[q.head] = nil // for the garbage collector
		q.head++
		if len(r.deltas) == 0 {
			continue
		}
		q.forget(r.key)
		q.compact()
		return r
	}
}

// remove removes the key, if present, from any position.
func (q *queue[T]) remove(key string) {
	r := q.get(key)
	if r == nil {
		return
	}
	r.clear()
	q.forget(key)
	q.compact()
}

// compact resets an empty queue, and releases its memory if the queue was long.
func (q *queue[T]) compact() {
	switch {
	case q.len() > 0:
	case cap(q.order) > keepCapacity:
		*q = *newQueue[T](0)
	default:
		clear(q.order[q.head:])
		q.order, q.head = q.order[:0], 0
	}
}

// absorb appends the other queue, which must not be used afterwards. A key in both keeps its place
// in q, and join merges its deltas. The records of q move into the other table: so a list of
// 100,000 objects built without a lock costs only the work for the few waiting keys.
func (q *queue[T]) absorb(other *queue[T], join func(mine, theirs *record[T])) {
	if other.len() == 0 {
		return
	}
	for mine := range q.all() {
		place := other.place(mine.key)
		if theirs := *place; theirs != nil {
			join(mine, theirs)
			theirs.clear()
		}
		*place = mine
	}
	q.byKey = other.byKey
	if q.head == len(q.order) {
		q.order, q.head = other.order, other.head
		return
	}
	q.order = append(q.order, other.order[other.head:]...)
}
