package queue

import "time"

// record is all that the queue knows about one key. A key without a record is
// idle; a record that has nothing left to say is removed (see settled).
//
// The article's two sets are the two flags here: a key is in the set "dirty" if
// its record says dirty, and in the set "processing" if processingIndex >= 0.
//
// Invariant: the record is in the queue's order <=> dirty && !processing().
// Invariant: the record is in the delay heap     <=> delayed().
type record[K comparable] struct {
	key K

	// Points in time on the queue's own clock (Queue.now). added and started
	// are zero in a queue that has nobody to tell them to (Queue.timed).
	due     time.Duration // end of the delay, while delayed
	added   time.Duration // when the key became dirty, while dirty
	started time.Duration // when Get handed the key out, while processing

	hash            uint32 // of key; kept so that the table never hashes twice
	ticket          uint32 // of two equal dues the smaller ticket comes first
	heapIndex       int32  // place in the delay heap, -1 outside
	processingIndex int32  // place in Queue.processing, -1 outside

	dirty bool // needs processing
	held  bool // the delay is a back-off that nothing may shorten
}

func blank[K comparable]() record[K] { return record[K]{heapIndex: -1, processingIndex: -1} }

func (r *record[K]) processing() bool { return r.processingIndex >= 0 }

func (r *record[K]) delayed() bool { return r.heapIndex >= 0 }

// queued says that the key waits for a worker.
func (r *record[K]) queued() bool { return r.dirty && !r.processing() }

// settled says that nothing is left to remember.
func (r *record[K]) settled() bool { return !r.dirty && !r.processing() && !r.delayed() }
