package indexer

import "sync/atomic"

// cell holds an object that one goroutine stores and any goroutine loads,
// without a lock. The zero value is empty.
//
// The obvious cell is an atomic.Pointer[T] to a copy of the object. But
// objects are pointers nearly always, and a pointer to a pointer is one
// allocation more in every write, and one cache miss more in every read. An
// interface keeps a pointer, or a struct of nothing but a pointer, in itself;
// and an atomic.Value is an interface that may be read while it is written.
// The struct around the object is for the type that atomic.Value wants to be
// the same at all times, even if T is an interface. Objects that are not
// pointers get the copy that they need.
type cell[T any] struct{ value atomic.Value } // of held[T]

type held[T any] struct{ obj T }

// load returns the object. The cell must not be empty.
func (c *cell[T]) load() T { return c.value.Load().(held[T]).obj }

// swap stores obj and returns what was there before, if there was something.
func (c *cell[T]) swap(obj T) (old T, existed bool) {
	before, existed := c.value.Swap(held[T]{obj}).(held[T])
	return before.obj, existed
}
