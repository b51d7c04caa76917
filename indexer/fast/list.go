package fast

// list is a mutable sequence with constant-time snapshots. The store's lock guards it; a snapshot
// may be read without the lock.
//
//	list ── epoch 7
//	  │ chunks
//	  ├──> epoch 7 [0..63]      written since the last snapshot: the list's own
//	  ├──> epoch 3 [64..127]    may be shared with snapshots: copied before a write
//	  └──> epoch 3 [128..180]
//
// So a write copies at most one chunk, and none without readers.
type list[E any] struct {
	view[E]
	epoch  uint64
	shared bool // a snapshot was taken in this epoch: the next write begins a new one
}

// view is a list at one moment.
type view[E any] struct {
	chunks []chunk[E] // all full but the last; none is empty
	n      int
}

type chunk[E any] struct {
	items []E
	epoch uint64 // in which items was allocated
}

// chunkSize balances the chunk that the first write to it after a snapshot copies against the
// number of chunks, which the first write after a snapshot copies.
const chunkSize = 64

// snapshot returns the list as it is now.
func (l *list[E]) snapshot() view[E] {
	l.shared = true
	return l.view
}

// own returns chunk i for writing.
func (l *list[E]) own(i int) *chunk[E] {
	l.begin()
	c := &l.chunks[i]
	if c.epoch != l.epoch {
		*c = chunk[E]{items: append(make([]E, 0, cap(c.items)), c.items...), epoch: l.epoch}
	}
	return c
}

// begin begins a new epoch with its own chunks if a snapshot shares those of this one.
func (l *list[E]) begin() {
	if l.shared {
		l.shared = false
		l.epoch++
		l.chunks = append(make([]chunk[E], 0, len(l.chunks)+1), l.chunks...)
	}
}

func (l *list[E]) set(pos int, e E) { l.own(pos / chunkSize).items[pos%chunkSize] = e }

func (l *list[E]) push(e E) {
	l.begin()
	if l.n%chunkSize == 0 {
		l.chunks = append(l.chunks, chunk[E]{epoch: l.epoch})
	}
	c := l.own(l.n / chunkSize)
	c.items = append(c.items, e)
	l.n++
}

func (l *list[E]) pop() (e E) {
	l.n--
	c := l.own(l.n / chunkSize)
	last := len(c.items) - 1
	e = c.items[last]
	clear(c.items[last:]) // for the garbage collector
	if c.items = c.items[:last]; last == 0 {
		*c = chunk[E]{}
		l.chunks = l.chunks[:len(l.chunks)-1]
	}
	return e
}

// elements returns the elements as a slice that the caller owns.
func (v view[E]) elements() []E {
	all := make([]E, 0, v.n)
	for _, c := range v.chunks {
		all = append(all, c.items...)
	}
	return all
}
