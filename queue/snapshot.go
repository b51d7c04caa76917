package queue

import (
	"cmp"
	"slices"
	"time"
)

// Snapshot is what is in a queue at one instant, as plain data. A key may be in
// more than one list: with a worker and delayed, for example.
type Snapshot[K comparable] struct {
	Name string
	// Seq is the number of the last event before the snapshot: add the events
	// with larger numbers, and the picture stays complete.
	Seq uint64

	// Queued keys wait for a worker, the next one first. (In no particular order
	// if the queue has an Order of its own.)
	Queued []K
	// Processing keys are with workers, the oldest first.
	Processing []ProcessingKey[K]
	// Delayed keys wait for their delay to end, the earliest first.
	Delayed []DelayedKey[K]

	// Waiting is the number of goroutines that are blocked in Get.
	Waiting      int
	ShuttingDown bool
	// Draining says that a ShutDownWithDrain has not returned yet.
	Draining bool
}

// ProcessingKey is a key that a worker holds.
type ProcessingKey[K comparable] struct {
	Key K
	// For is how long the worker has held it; zero unless the queue has metrics
	// or a trace with Got or Done, because otherwise nobody looked at the clock.
	For time.Duration
	// Dirty says that it was added again and is queued once more after Done.
	Dirty bool
}

// DelayedKey is a key that waits for its delay to end.
type DelayedKey[K comparable] struct {
	Key K
	// In is how long it still waits; negative if it is late.
	In time.Duration
	// Held says that Add does not end the delay; see Config.HoldBackoff.
	Held bool
}

// Snapshot copies the queue's content. The queue stands still meanwhile, for some
// ten nanoseconds a key.
func (q *Queue[K]) Snapshot() Snapshot[K] {
	s, delays := q.snapshot()
	// Sorting takes longer than copying, so it happens without the lock.
	slices.SortFunc(s.Processing, func(a, b ProcessingKey[K]) int { return cmp.Compare(b.For, a.For) })
	slices.SortFunc(delays, func(a, b delayedCopy[K]) int {
		return cmp.Or(cmp.Compare(a.In, b.In), int(int32(a.ticket-b.ticket)))
	})
	for _, d := range delays {
		s.Delayed = append(s.Delayed, d.DelayedKey)
	}
	return s
}

// delayedCopy has what it takes to sort delayed keys after the lock is released.
type delayedCopy[K comparable] struct {
	DelayedKey[K]
	ticket uint32
}

func (q *Queue[K]) snapshot() (s Snapshot[K], delays []delayedCopy[K]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	s = Snapshot[K]{
		Name:         q.name,
		Seq:          q.seq,
		Queued:       q.queuedLocked(),
		Waiting:      q.waiters,
		ShuttingDown: q.shuttingDown,
		Draining:     q.drainers > 0,
	}
	for _, h := range q.processing {
		p := ProcessingKey[K]{Key: h.key, Dirty: q.records.at(h.ref).value.dirty}
		if q.timed {
			p.For = now - h.started
		}
		s.Processing = append(s.Processing, p)
	}
	for i := range q.delays.len() {
		r := q.delays.at(i)
		delays = append(delays, delayedCopy[K]{DelayedKey[K]{r.key, r.value.due - now, r.value.held}, r.value.ticket})
	}
	return s, delays
}

func (q *Queue[K]) queuedLocked() (keys []K) {
	if q.order != nil {
		q.records.all(func(_ uint32, r *record[K]) {
			if r.value.queued() {
				keys = append(keys, r.key)
			}
		})
		return keys
	}
	for i := range q.fifo.len() {
		keys = append(keys, q.records.at(q.fifo.at(i)).key)
	}
	return keys
}
