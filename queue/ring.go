package queue

// ring is a first-in-first-out queue in a circular buffer: push and pop move
// two indexes and copy nothing. (A slice that is appended to at one end and
// re-sliced at the other, as in the original, allocates for ever.)
type ring[T any] struct {
	buffer []T // length is a power of two, or 0
	head   int // place of the oldest element
	count  int
}

const (
	minRing  = 64
	keepRing = 8192 // a larger buffer is given back when the ring empties
)

func (r *ring[T]) len() int { return r.count }

// at returns the element at distance i from the oldest.
func (r *ring[T]) at(i int) T { return r.buffer[(r.head+i)&(len(r.buffer)-1)] }

func (r *ring[T]) push(v T) {
	if r.count == len(r.buffer) {
		r.grow()
	}
	r.buffer[(r.head+r.count)&(len(r.buffer)-1)] = v
	r.count++
}

// pop removes the oldest element. The ring must not be empty.
func (r *ring[T]) pop() T {
	v := r.buffer[r.head]
	var zero T
	r.buffer[r.head] = zero // let the garbage collector have it
	r.head = (r.head + 1) & (len(r.buffer) - 1)
	r.count--
	if r.count == 0 && len(r.buffer) > keepRing {
		*r = ring[T]{}
	}
	return v
}

func (r *ring[T]) grow() {
	bigger := make([]T, max(minRing, 2*len(r.buffer)))
	n := copy(bigger, r.buffer[r.head:])
	copy(bigger[n:], r.buffer[:r.head])
	r.buffer, r.head = bigger, 0
}
