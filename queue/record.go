package queue

import "time"

// record is all that the queue knows about one key. A key without a record is
// idle, and so is one whose record is settled; see settleLocked.
type record[K comparable] = entry[K, state]

// state is the part of a record that is not the key. The zero value says that
// there is nothing to do. It is 32 bytes large, and a record of a string 48.
//
// The article's two sets are two facts here: a key is in the set "dirty" if its
// state says dirty, and in the set "processing" if its state is processing().
//
// Invariant: the record is in the queue's order <=> dirty && !processing().
// Invariant: the record is in the delay heap    <=> delayed().
type state struct {
	// Points in time on the queue's own clock (Queue.now). added is zero in a
	// queue that has nobody to tell it to (Queue.timed).
	due   time.Duration // end of the delay, while delayed
	added time.Duration // when the key became dirty, while dirty

	ticket          uint32 // of two equal dues the smaller ticket comes first
	delayPlace      int32  // place in Queue.delays counted from 1, 0 outside
	processingPlace int32  // place in Queue.processing counted from 1, 0 outside

	dirty bool // needs processing
	held  bool // the delay is a back-off that nothing may shorten
}

func (s *state) processing() bool { return s.processingPlace != 0 }

func (s *state) delayed() bool { return s.delayPlace != 0 }

// queued says that the key waits for a worker.
func (s *state) queued() bool { return s.dirty && !s.processing() }

// settled says that nothing is left to remember.
func (s *state) settled() bool { return !s.dirty && !s.processing() && !s.delayed() }

// before orders delays by deadline, and equal deadlines by who came first.
func (s *state) before(other *state) bool {
	if s.due != other.due {
		return s.due < other.due
	}
	return int32(s.ticket-other.ticket) < 0 // tickets may wrap around
}

// holding is a key that a worker holds.
type holding[K comparable] struct {
	key     K
	ref     uint32        // of its record
	started time.Duration // when Get handed it out; zero unless Queue.timed
}
