package queue

// delayHeap holds the records that wait for their delay to end; the one whose
// delay ends first is at index 0. It is a heap with four children to a node:
// half as deep as a binary one, and a new deadline that is later than all others,
// the usual case, costs a single comparison either way.
//
// Invariant: h[i].value.delayPlace == i+1, and no record comes before its parent.
type delayHeap[K comparable] []*record[K]

const heapArity = 4

func (h *delayHeap[K]) push(r *record[K]) {
	if len(*h) == cap(*h) {
		// append grows large slices by a quarter: with a million delays that is
		// five times their memory in garbage, doubling it is once.
		bigger := make(delayHeap[K], len(*h), max(16, 2*len(*h)))
		copy(bigger, *h)
		*h = bigger
	}
	*h = append(*h, r)
	h.up(len(*h) - 1)
}

func (h *delayHeap[K]) remove(r *record[K]) {
	old, i := *h, int(r.value.delayPlace-1)
	last := len(old) - 1
	moved := old[last]
	old[last] = nil
	*h = old[:last]
	if i != last {
		h.place(i, moved)
		h.fix(moved)
	} else if last == 0 && cap(old) > keepRing {
		*h = nil
	}
	r.value.delayPlace = 0
}

// fix restores the order after the deadline of r changed.
func (h delayHeap[K]) fix(r *record[K]) {
	if i := int(r.value.delayPlace - 1); !h.up(i) {
		h.down(i)
	}
}

// up moves the record at index i towards the root and reports whether it moved.
func (h delayHeap[K]) up(i int) bool {
	r, start := h[i], i
	for i > 0 {
		parent := (i - 1) / heapArity
		if !r.value.before(&h[parent].value) {
			break
		}
		h.place(i, h[parent])
		i = parent
	}
	h.place(i, r)
	return i != start
}

func (h delayHeap[K]) down(i int) {
	r := h[i]
	for {
		first := i*heapArity + 1
		if first >= len(h) {
			break
		}
		least := first
		for child := first + 1; child < min(first+heapArity, len(h)); child++ {
			if h[child].value.before(&h[least].value) {
				least = child
			}
		}
		if !h[least].value.before(&r.value) {
			break
		}
		h.place(i, h[least])
		i = least
	}
	h.place(i, r)
}

func (h delayHeap[K]) place(i int, r *record[K]) {
	h[i] = r
	r.value.delayPlace = int32(i + 1)
}
