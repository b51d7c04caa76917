package informer

// ring is a first-in first-out buffer that grows as needed: the pendingNotifications of the article's listener.
// It doubles when it is full and never shrinks. The zero value is empty. Not safe for concurrent use.
type ring[E any] struct {
	slots []E
	first int // index of the oldest element
	count int
}

func (r *ring[E]) write(e E) {
	if r.count == len(r.slots) {
		larger := make([]E, max(1024, 2*r.count))
		n := copy(larger, r.slots[r.first:])
		copy(larger[n:], r.slots[:r.first])
		r.slots, r.first = larger, 0
	}
	r.slots[(r.first+r.count)%len(r.slots)] = e
	r.count++
}

// read takes the oldest element; ok is false if there is none.
func (r *ring[E]) read() (e E, ok bool) {
	if r.count == 0 {
		return e, false
	}
	var zero E
	e, r.slots[r.first] = r.slots[r.first], zero // what was read must be collectable
	r.first = (r.first + 1) % len(r.slots)
	r.count--
	return e, true
}
