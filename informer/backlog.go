package informer

import (
	"errors"
	"fmt"
)

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
// Invariant: head == nil exactly if tail == nil; every chunk of the chain but the tail is full; none is empty.
type backlog[E any] struct {
	head, tail *chunk[E]
	// spare is a chain of empty chunks that came back, so that a listener that keeps up allocates nothing.
	spare  *chunk[E]
	spares int
}

// maxSpares bounds what an idle listener keeps, about 40 kB.
const maxSpares = 8

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
	if fresh == nil {
		fresh = new(chunk[E])
	} else {
		b.spare, fresh.next = fresh.next, nil
		b.spares--
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
	if b.spares == maxSpares {
		return
	}
	c.count = 0
	c.next = b.spare
	b.spare = c
	b.spares++
}

// clear forgets everything.
func (b *backlog[E]) clear() { *b = backlog[E]{} }

// check returns an error if the invariant does not hold. Tests call it.
func (b *backlog[E]) check() error {
	if (b.head == nil) != (b.tail == nil) {
		return errors.New("only one of head and tail is nil")
	}
	for c := b.head; c != nil; c = c.next {
		switch {
		case c.count == 0:
			return errors.New("a chunk is empty")
		case c != b.tail && c.count < chunkSize:
			return fmt.Errorf("a chunk in the middle holds %d", c.count)
		case c.next == nil && c != b.tail:
			return errors.New("the chain does not end at tail")
		}
	}
	return nil
}
