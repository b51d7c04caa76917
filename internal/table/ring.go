package table

// Ring is a FIFO queue in a circular buffer: push and pop move two indexes and copy nothing. (A
// slice with append at one end and re-slicing at the other allocates forever.) The zero value is
// empty. It is not safe for concurrent use.
type Ring[T any] struct {
	buffer []T // length is a power of two, or 0
	head   int // index of the oldest element
	count  int
}

const (
	minRing  = 64
	keepRing = 8192 // a larger buffer is freed when the ring empties
)

// Len returns the number of elements.
func (r *Ring[T]) Len() int { return r.count }

// At returns the element at distance i from the oldest.
func (r *Ring[T]) At(i int) T { return r.buffer[(r.head+i)&(len(r.buffer)-1)] }

// Push appends an element.
func (r *Ring[T]) Push(v T) {
	if r.count == len(r.buffer) {
		r.grow()
	}
	r.buffer[(r.head+r.count)&(len(r.buffer)-1)] = v
	r.count++
}

// Pop removes the oldest element. The ring must not be empty.
func (r *Ring[T]) Pop() T {
	v := r.buffer[r.head]
	var zero T
	r.buffer[r.head] = zero // for the garbage collector
	r.head = (r.head + 1) & (len(r.buffer) - 1)
	r.count--
	if r.count == 0 && len(r.buffer) > keepRing {
		*r = Ring[T]{}
	}
	return v
}

func (r *Ring[T]) grow() {
	bigger := make([]T, max(minRing, 2*len(r.buffer)))
	n := copy(bigger, r.buffer[r.head:])
	copy(bigger[n:], r.buffer[:r.head])
	r.buffer, r.head = bigger, 0
}
