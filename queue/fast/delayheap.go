package fast

import "orrery/internal/table"

// delayHeap holds references to the delayed records; the earliest deadline is at index 0. It is a
// 4-ary heap: half as deep as a binary one, and pushing a deadline later than all others, the usual
// case, costs a single comparison either way.
//
// Invariant: the record of refs[i] has delayPlace i+1, and no record is due before its parent.
type delayHeap[K comparable] struct {
	records *table.Table[K, state]
	refs    []uint32
}

const (
	heapArity = 4
	keepHeap  = 8192 // a larger array is released when the heap is empty
)

func (h *delayHeap[K]) len() int { return len(h.refs) }

// first returns the record with the earliest deadline. The heap must not be empty.
func (h *delayHeap[K]) first() (ref uint32, r *record[K]) { return h.refs[0], h.at(0) }

func (h *delayHeap[K]) at(i int) *record[K] { return h.records.At(h.refs[i]) }

func (h *delayHeap[K]) push(ref uint32) {
	if len(h.refs) == cap(h.refs) {
		// append grows large slices by a quarter, which allocates five times the memory of a
		// million delays on the way; doubling allocates it once.
		bigger := make([]uint32, len(h.refs), max(16, 2*len(h.refs)))
		copy(bigger, h.refs)
		h.refs = bigger
	}
	h.refs = append(h.refs, ref)
	h.up(len(h.refs) - 1)
}

// remove removes a record that is in the heap.
func (h *delayHeap[K]) remove(r *record[K]) {
	i, last := int(r.Value.delayPlace-1), len(h.refs)-1
	moved := h.refs[last]
	h.refs = h.refs[:last]
	if i != last {
		h.place(i, moved)
		h.fix(h.records.At(moved))
	} else if last == 0 && cap(h.refs) > keepHeap {
		h.refs = nil
	}
	r.Value.delayPlace = 0
}

// fix restores the order after the deadline of r changed.
func (h *delayHeap[K]) fix(r *record[K]) {
	if i := int(r.Value.delayPlace - 1); !h.up(i) {
		h.down(i)
	}
}

// up moves the record at index i towards the root and reports whether it moved.
func (h *delayHeap[K]) up(i int) bool {
	ref, start := h.refs[i], i
	s := &h.records.At(ref).Value
	for i > 0 {
		parent := (i - 1) / heapArity
		if !s.before(&h.at(parent).Value) {
			break
		}
		h.place(i, h.refs[parent])
		i = parent
	}
	h.place(i, ref)
	return i != start
}

func (h *delayHeap[K]) down(i int) {
	ref := h.refs[i]
	s := &h.records.At(ref).Value
	for {
		first := i*heapArity + 1
		if first >= len(h.refs) {
			break
		}
		least, leastState := first, &h.at(first).Value
		for child := first + 1; child < min(first+heapArity, len(h.refs)); child++ {
			if other := &h.at(child).Value; other.before(leastState) {
				least, leastState = child, other
			}
		}
		if !leastState.before(s) {
			break
		}
		h.place(i, h.refs[least])
		i = least
	}
	h.place(i, ref)
}

func (h *delayHeap[K]) place(i int, ref uint32) {
	h.refs[i] = ref
	h.records.At(ref).Value.delayPlace = int32(i + 1)
}
