package indexer

import "iter"

// view is a list at one moment. Once closed, nothing in it changes again.
type view[E, O any] struct {
	epoch  uint64
	n      int
	chunks []*chunk[E, O] // all full but the last; none is empty

	// late are elements that have taken their places after the chunks were
	// written, oldest first. The memory behind the slice is shared with later
	// views, which see more of it.
	late []late[E]

	chunksEpoch uint64 // of the directory: that of the view for which it was made
}

// late is an element that belongs at pos.
type late[E any] struct {
	pos int
	e   E
}

// A long list takes as many late elements as one in lateShare of its own before
// they move to their chunks: several move to the same chunk, which is copied
// once for all of them, and a reader who asks for everything has little to
// correct. A list of fewer chunks takes none.
const lateShare = 16

func (v *view[E, O]) takesLate() bool {
	return len(v.late) < v.n/lateShare && len(v.chunks) >= lateShare
}

// reopen returns a copy of v for the writer to go on in. Everything in it stays
// shared until it is written to.
func (v *view[E, O]) reopen(epoch uint64) *view[E, O] {
	next := *v
	next.epoch = epoch
	return &next
}

// set replaces the element at pos. It is written in place if the chunk is the
// view's own, else noted down as late; and behind a late one all have to be.
func (v *view[E, O]) set(pos int, e E) {
	inPlace := len(v.late) == 0 && v.chunks[pos/chunkSize].epoch == v.epoch
	switch {
	case inPlace:
		v.chunks[pos/chunkSize].items[pos%chunkSize] = e
	case v.takesLate():
		v.late = append(v.late, late[E]{pos: pos, e: e})
	default:
		v.settle()
		v.ownItems(pos / chunkSize).items[pos%chunkSize] = e
	}
}

// settle moves the late elements to their chunks.
func (v *view[E, O]) settle() {
	for _, w := range v.late {
		v.ownItems(w.pos / chunkSize).items[w.pos%chunkSize] = w.e
	}
	v.late = nil
}

// push appends an element.
func (v *view[E, O]) push(e E, owner O) {
	v.settle()
	v.ownChunks()
	if v.n%chunkSize == 0 {
		v.chunks = append(v.chunks, &chunk[E, O]{epoch: v.epoch, ownersEpoch: v.epoch})
	}
	c := v.ownChunk(v.n / chunkSize)
	c.items = append(c.items, e)
	c.owners = append(c.owners, owner)
	v.n++
}

// pop takes the last element off.
func (v *view[E, O]) pop() (e E, owner O) {
	v.settle()
	v.ownChunks()
	v.n--
	e, owner = v.ownChunk(v.n / chunkSize).cut()
	if v.n%chunkSize == 0 {
		v.chunks[v.n/chunkSize] = nil
		v.chunks = v.chunks[:v.n/chunkSize]
	}
	return e, owner
}

// ownChunks makes the directory of chunks the view's own.
func (v *view[E, O]) ownChunks() {
	if v.chunksEpoch == v.epoch {
		return
	}
	chunks := make([]*chunk[E, O], len(v.chunks), len(v.chunks)+1)
	copy(chunks, v.chunks)
	v.chunks, v.chunksEpoch = chunks, v.epoch
}

// ownItems returns chunk i for replacing elements, a copy if it may be shared.
// The owners may still be shared.
func (v *view[E, O]) ownItems(i int) *chunk[E, O] {
	c := v.chunks[i]
	if c.epoch == v.epoch {
		return c
	}
	v.ownChunks()
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

// all yields the elements of a view.
func (v *view[E, O]) all() iter.Seq2[O, E] {
	return func(yield func(O, E) bool) {
		var corrected []E // if there is something to correct
		if len(v.late) > 0 {
			corrected = v.elements()
		}
		for i, c := range v.chunks {
			items := c.items
			if corrected != nil {
				items = corrected[i*chunkSize:]
			}
			for k, owner := range c.owners {
				if !yield(owner, items[k]) {
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
	for _, w := range v.late {
		all[w.pos] = w.e
	}
	return all
}
