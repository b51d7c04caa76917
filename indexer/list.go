package indexer

import "sync/atomic"

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
// in another, which shares everything with it that is not written to. What
// carries the writer's epoch is the writer's own and is changed in place; so
// without readers nothing is copied.
//
// What is shared is copied when it is first written to, a chunk at a time. But
// where readers list 100,000 objects in a loop, nearly every write would be the
// first to its chunk after a snapshot, and copy 64 pointers to change one. So a
// long list notes late elements down beside the chunks (view.go), and copies
// chunks when there are some thousands, several for each chunk.
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
	v.push(e, owner)
	return v.n - 1
}

// set replaces the element at pos. The owner stays.
func (l *list[E, O]) set(pos int, e E) { l.own().set(pos, e) }

// remove takes the element at pos out. If another element had to move to pos
// its owner is returned, which has to note the new position.
func (l *list[E, O]) remove(pos int) (moved O, didMove bool) {
	v := l.own()
	e, owner := v.pop()
	if pos == v.n {
		return moved, false
	}
	c := v.ownChunk(pos / chunkSize)
	c.items[pos%chunkSize], c.owners[pos%chunkSize] = e, owner
	return owner, true
}

// len is the number of elements, for the writer.
func (l *list[E, O]) len() int { return l.current.Load().n }
