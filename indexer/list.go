package indexer

import (
	"iter"
	"sync/atomic"
)

// list is a sequence that one writer changes in place and that any number of
// readers can photograph, at any moment, without making the writer wait.
//
//	list ── current ──> view{epoch 7, n 181}
//	                      │ chunks
//	                      ├──> chunk{epoch 7} [0..63]     written since the last
//	                      ├──> chunk{epoch 3} [64..127]   snapshot: private
//	                      └──> chunk{epoch 3} [128..180]  older: may be shared
//
// A reader asks for a snapshot by raising wanted, the number of the epoch that
// it wants closed. The writer looks at wanted before it changes anything. If
// the number has moved it leaves the current view alone for ever and goes on
// in a copy: the directory of chunks is copied at once, a chunk when it is
// first written to. What carries the writer's epoch is the writer's own and is
// changed in place; so without readers nothing is ever copied.
//
// Writes take place between gate.enter and gate.leave, one at a time. One
// write may touch a list several times; a snapshot never falls between.
//
// Order is not kept: remove fills the hole with the last element. Each element
// has an owner, who has to learn when it moves.
type list[E, O any] struct {
	gate *gate // set once

	// Readers write these.
	wanted  atomic.Uint64 // the epoch that readers want closed
	readers atomic.Int64  // how many are between asking and having

	// The writer writes these, readers read them.
	noticed atomic.Uint64              // the newest wanted that the writer has seen
	current atomic.Pointer[view[E, O]] // what the writer works on; its epoch is noticed
	closed  atomic.Pointer[view[E, O]] // the view as it was when noticed moved, or nil

	touched uint64 // writer only: the gate's number in the last write that touched the list
}

// view is the list at one moment. Once closed, nothing in it changes again.
type view[E, O any] struct {
	epoch  uint64
	n      int
	chunks []*chunk[E, O] // all full but the last; none is empty
}

// chunk holds up to chunkSize elements and their owners, each kind in a row of
// its own: an element is replaced in every write, its owner only when elements
// come and go. Its epochs are those of the views for which it and its row of
// owners were made: a view may change only what is of its own epoch.
type chunk[E, O any] struct {
	epoch  uint64
	items  []E
	owners []O // of the same length

	ownersEpoch uint64
}

// chunkSize is a compromise: the first write to a chunk after a snapshot copies
// this many elements, the first write after a snapshot copies one pointer for
// each so many elements.
const chunkSize = 64

func newList[E, O any](g *gate) *list[E, O] {
	l := &list[E, O]{}
	l.init(g)
	return l
}

func (l *list[E, O]) init(g *gate) {
	l.gate = g
	l.current.Store(&view[E, O]{})
}

// snapshot returns the list as it is at some moment between call and return.
// Any goroutine may call it; it waits for at most one write.
func (l *list[E, O]) snapshot() *view[E, O] {
	// From here on the writer keeps closed views for us; see own.
	l.readers.Add(1)
	defer l.readers.Add(-1)
	return l.answer(l.ask())
}

// ask makes the next write close the current view, and returns the epoch that
// is closed then.
func (l *list[E, O]) ask() (want uint64) {
	// If an epoch was asked for that the writer has not noticed, then nothing
	// has been written since, and the same question serves us as well.
	want = l.wanted.Load()
	if l.noticed.Load() >= want {
		want = l.wanted.Add(1)
	}
	return want
}

// answer returns a view that is closed or will be by the next write, and that
// shows every write that had ended when want was asked for.
func (l *list[E, O]) answer(want uint64) *view[E, O] {
	// A write that is under way may have looked at wanted before it moved, and
	// be changing the current view in place: it is waited for. The writer
	// enters the gate before it reads wanted, and we have written wanted
	// before we read the gate, so one of us sees the other.
	l.gate.pass()

	// Now every further write notices want first. As long as none has, the
	// current view is the newest state and the next write leaves it alone.
	// The order of these two loads matters: own stores noticed before current,
	// so a view of the new epoch is never taken for the closed one.
	v := l.current.Load()
	if l.noticed.Load() < want {
		return v
	}
	// A write did, after our question. What it has closed is what we want.
	return l.closed.Load()
}

// own returns the current view for changing, closing the former one if a
// snapshot was asked for. Writer only.
func (l *list[E, O]) own() *view[E, O] {
	v := l.current.Load()
	// Only at its first touch may a write close a view: later ones would close
	// the list in the middle of the write. A reader that asks in between waits
	// at the gate for the end of the write and finds the current view.
	number := l.gate.number.Load()
	if number == l.touched {
		return v
	}
	l.touched = number

	want := l.wanted.Load()
	if want != v.epoch {
		l.closed.Store(v)
		l.noticed.Store(want)
		v = v.reopen(want)
		l.current.Store(v)
		return v
	}
	// A closed view keeps old objects from being collected. When no reader is
	// on its way to one it can go: whoever comes later raises wanted again.
	if l.closed.Load() != nil && l.readers.Load() == 0 {
		l.closed.Store(nil)
	}
	return v
}

// insert appends e and returns its position.
func (l *list[E, O]) insert(e E, owner O) (pos int) {
	v := l.own()
	pos = v.n
	if pos%chunkSize == 0 {
		v.chunks = append(v.chunks, &chunk[E, O]{epoch: v.epoch, ownersEpoch: v.epoch})
	}
	c := v.ownChunk(pos / chunkSize)
	c.items = append(c.items, e)
	c.owners = append(c.owners, owner)
	v.n++
	return pos
}

// set replaces the element at pos. The owner stays.
func (l *list[E, O]) set(pos int, e E) {
	v := l.own()
	v.ownItems(pos / chunkSize).items[pos%chunkSize] = e
}

// remove takes the element at pos out. If another element had to move to pos
// its owner is returned, which has to note the new position.
func (l *list[E, O]) remove(pos int) (moved O, didMove bool) {
	v := l.own()
	last := v.n - 1
	e, owner := v.ownChunk(last / chunkSize).cut()
	if last%chunkSize == 0 {
		v.chunks[last/chunkSize] = nil
		v.chunks = v.chunks[:last/chunkSize]
	}
	v.n = last
	if pos == last {
		return moved, false
	}
	c := v.ownChunk(pos / chunkSize)
	c.items[pos%chunkSize], c.owners[pos%chunkSize] = e, owner
	return owner, true
}

// cut takes the last element off. What is behind the end must not be kept
// alive.
func (c *chunk[E, O]) cut() (e E, owner O) {
	last := len(c.items) - 1
	var noElement E
	var noOwner O
	e, c.items[last] = c.items[last], noElement
	owner, c.owners[last] = c.owners[last], noOwner
	c.items, c.owners = c.items[:last], c.owners[:last]
	return e, owner
}

// len is the number of elements, for the writer.
func (l *list[E, O]) len() int { return l.current.Load().n }

// reopen returns a copy of v for the writer to go on in. The chunks stay
// shared until they are written to.
func (v *view[E, O]) reopen(epoch uint64) *view[E, O] {
	chunks := make([]*chunk[E, O], len(v.chunks), len(v.chunks)+1)
	copy(chunks, v.chunks)
	return &view[E, O]{epoch: epoch, n: v.n, chunks: chunks}
}

// ownItems returns chunk i for replacing elements, a copy if it may be shared.
// The owners may still be shared.
func (v *view[E, O]) ownItems(i int) *chunk[E, O] {
	c := v.chunks[i]
	if c.epoch == v.epoch {
		return c
	}
	c = c.withOwnItems(v.epoch)
	v.chunks[i] = c
	return c
}

// ownChunk returns chunk i for changing anything in it.
func (v *view[E, O]) ownChunk(i int) *chunk[E, O] {
	c := v.ownItems(i)
	if c.ownersEpoch != v.epoch {
		c.owners, c.ownersEpoch = roomyClone(c.owners), v.epoch
	}
	return c
}

// withOwnItems returns a copy whose elements are its own and whose owners are
// those of c. Most chunks are full; such a copy is one piece of memory.
func (c *chunk[E, O]) withOwnItems(epoch uint64) *chunk[E, O] {
	if len(c.items) < chunkSize {
		return &chunk[E, O]{epoch: epoch, items: roomyClone(c.items), owners: c.owners, ownersEpoch: c.ownersEpoch}
	}
	full := &struct {
		chunk[E, O]
		room [chunkSize]E
	}{chunk: chunk[E, O]{epoch: epoch, owners: c.owners, ownersEpoch: c.ownersEpoch}}
	full.items = full.room[:]
	copy(full.items, c.items)
	return &full.chunk
}

// roomyClone returns a copy with the same capacity.
func roomyClone[E any](s []E) []E { return append(make([]E, 0, cap(s)), s...) }

// all yields the elements of a view.
func (v *view[E, O]) all() iter.Seq2[O, E] {
	return func(yield func(O, E) bool) {
		for _, c := range v.chunks {
			for i, e := range c.items {
				if !yield(c.owners[i], e) {
					return
				}
			}
		}
	}
}

// elements returns the elements as a slice that the caller owns.
func (v *view[E, O]) elements() []E {
	all := make([]E, v.n)
	rest := all
	for _, c := range v.chunks {
		rest = rest[copy(rest, c.items):]
	}
	return all
}
