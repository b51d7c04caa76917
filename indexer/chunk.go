package indexer

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
