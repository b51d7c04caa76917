package informer

// chunkSize is the number of notifications that one allocation of a backlog holds. It is also the greatest
// number that a listener takes under one lock.
const chunkSize = 128

// chunk is a part of a backlog.
type chunk[E any] struct {
	slots [chunkSize]E
	count int // slots[:count] are in use
	next  *chunk[E]
}

// backlog is the queue of the batching listener: a chain of chunks. Growing it never copies what is already
// there, so that a handler which is a million events behind costs the producer no more than one that is one
// behind; what was consumed is given back chunk by chunk. The zero value is empty. Not safe for concurrent use.
//
// Invariant: head == nil exactly if tail == nil; every chunk but the tail is full; no chunk is empty.
type backlog[E any] struct {
	head, tail *chunk[E]
	// spare is an empty chunk kept from the consumer, so that a listener that keeps up allocates nothing.
	spare *chunk[E]
}

func (b *backlog[E]) empty() bool { return b.head == nil }

// push appends batch.
func (b *backlog[E]) push(batch []E) {
	for len(batch) > 0 {
		if b.tail == nil || b.tail.count == chunkSize {
			b.grow()
		}
		n := copy(b.tail.slots[b.tail.count:], batch)
		b.tail.count += n
		batch = batch[n:]
	}
}

func (b *backlog[E]) grow() {
	fresh := b.spare
	b.spare = nil
	if fresh == nil {
		fresh = new(chunk[E])
	}
	if b.tail == nil {
		b.head = fresh
	} else {
		b.tail.next = fresh
	}
	b.tail = fresh
}

// take hands over the oldest chunk, which from then on belongs to the caller; nil if there is none.
func (b *backlog[E]) take() *chunk[E] {
	c := b.head
	if c == nil {
		return nil
	}
	b.head = c.next
	if b.head == nil {
		b.tail = nil
	}
	c.next = nil
	return c
}

// giveBack returns a chunk for reuse. The caller has zeroed the slots that were in use.
func (b *backlog[E]) giveBack(c *chunk[E]) {
	c.count = 0
	b.spare = c
}

// clear forgets everything.
func (b *backlog[E]) clear() { *b = backlog[E]{} }
