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
// Invariant: the record is in the queue's order <=> dirty && !processing().
// Invariant: the record is in the delay heap    <=> delayed().
type state struct {
	// Times on the queue's own clock (Queue.now). added is zero unless a hook takes it
	// (Queue.timed).
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
