package fast

import (
	"time"

	"orrery/internal/table"
)

// record is everything that the queue knows about one key. A key without a record is idle.
type record[K comparable] = table.Entry[K, state]

// state is a record without its key. The zero value means that there is nothing to do. It has 32
// bytes, and a record of a string 48.
//
// The article's two sets are two fields: a key is in "dirty" if its state is dirty, and in
// "processing" if its state is processing().
//
// Invariant: the record is in Queue.fifo   <=> dirty && !processing().
// Invariant: the record is in Queue.delays <=> delayed().
type state struct {
	// Times on the queue's own clock (Queue.now). added is zero unless a hook wants
	// the duration (Queue.timed).
	due   time.Duration // end of the delay, while delayed
	added time.Duration // when the key became dirty, while dirty

	delaySeq        uint32 // breaks ties between equal dues
	delayPlace      int32  // place in Queue.delays counted from 1, 0 outside
	processingPlace int32  // place in Queue.processing counted from 1, 0 outside

	dirty bool // needs processing
}

func (s *state) processing() bool { return s.processingPlace != 0 }

func (s *state) delayed() bool { return s.delayPlace != 0 }

// before orders delays by deadline, and equal deadlines by delaySeq.
func (s *state) before(other *state) bool {
	if s.due != other.due {
		return s.due < other.due
	}
	return int32(s.delaySeq-other.delaySeq) < 0 // sequence numbers may wrap around
}

// inFlight is a key that a worker holds.
type inFlight[K comparable] struct {
	key     K
	ref     uint32        // of its record
	started time.Duration // when Get handed it out; zero unless Queue.timed
}

// forgetIfIdleLocked removes r if it holds no state.
func (q *Queue[K]) forgetIfIdleLocked(ref uint32, r *record[K]) {
	if !r.Value.dirty && !r.Value.processing() && !r.Value.delayed() {
		q.records.Remove(ref)
	}
}

// placeLocked returns the place in processing of a key that a worker holds, or -1.
func (q *Queue[K]) placeLocked(key K) int {
	_, r := q.records.Find(key, q.records.Hash(key))
	if r == nil {
		return -1
	}
	return int(r.Value.processingPlace) - 1
}

// releaseLocked removes a key from processing; the last key takes its place.
func (q *Queue[K]) releaseLocked(place int) (ref uint32, r *record[K]) {
	last := len(q.processing) - 1
	ref = q.processing[place].ref
	r = q.records.At(ref)
	if place != last {
		moved := q.processing[last]
		q.processing[place] = moved
		q.records.At(moved.ref).Value.processingPlace = int32(place + 1)
	}
	q.processing[last] = inFlight[K]{} // for the garbage collector
	q.processing = q.processing[:last]
	r.Value.processingPlace = 0
	return ref, r
}

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
		// append grows large slices by a quarter, so all arrays together take five times the
		// memory of the last one. With doubling they take twice.
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
