package fast

import (
	"cmp"
	"slices"
	"time"

	"orrery/queue"
)

// effect is the set of the events that one operation on one key caused.
type effect uint8

// The order of the constants is the order of the events.
const (
	delayed effect = 1 << iota
	delayCanceled
	delayEnded
	refused
	coalesced
	added
)

// report calls the callbacks for an operation's events. seq is the number of the first; wait is the
// duration of those that have one.
func report[K comparable](t *queue.Trace[K], what effect, key K, seq uint64, wait time.Duration) {
	e := queue.Event[K]{Key: key, Seq: seq}
	if what&delayed != 0 {
		call2(t.Delayed, e, wait)
		e.Seq++
	}
	if what&delayCanceled != 0 {
		call(t.DelayCanceled, e)
		e.Seq++
	}
	if what&delayEnded != 0 {
		call2(t.DelayEnded, e, wait)
		e.Seq++
	}
	switch {
	case what&refused != 0:
		call(t.Refused, e)
	case what&coalesced != 0:
		call(t.Coalesced, e)
	case what&added != 0:
		call(t.Added, e)
	}
}

func call[A any](f func(A), a A) {
	if f != nil {
		f(a)
	}
}

func call2[A, B any](f func(A, B), a A, b B) {
	if f != nil {
		f(a, b)
	}
}

// Snapshot copies the queue's content. It holds the lock for about ten nanoseconds per key.
func (q *Queue[K]) Snapshot() queue.Snapshot[K] {
	s, delays := q.snapshot()
	// Sorting takes longer than copying, so it happens without the lock.
	slices.SortFunc(s.Processing, func(a, b queue.ProcessingKey[K]) int { return cmp.Compare(b.For, a.For) })
	slices.SortFunc(delays, func(a, b delayedCopy[K]) int {
		return cmp.Or(cmp.Compare(a.In, b.In), int(int32(a.delaySeq-b.delaySeq)))
	})
	for _, d := range delays {
		s.Delayed = append(s.Delayed, d.DelayedKey)
	}
	return s
}

// delayedCopy lets delayed keys be sorted after the lock is released.
type delayedCopy[K comparable] struct {
	queue.DelayedKey[K]
	delaySeq uint32
}

func (q *Queue[K]) snapshot() (s queue.Snapshot[K], delays []delayedCopy[K]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	s = queue.Snapshot[K]{
		Name:         q.name,
		Seq:          q.seq,
		Waiting:      q.waiters,
		ShuttingDown: q.shuttingDown,
		Draining:     q.drainers > 0,
	}
	for i := range q.fifo.Len() {
		s.Queued = append(s.Queued, q.records.At(q.fifo.At(i)).Key)
	}
	for _, h := range q.processing {
		p := queue.ProcessingKey[K]{Key: h.key, Dirty: q.records.At(h.ref).Value.dirty}
		if q.timed {
			p.For = now - h.started
		}
		s.Processing = append(s.Processing, p)
	}
	for i := range q.delays.len() {
		r := q.delays.at(i)
		delays = append(delays, delayedCopy[K]{queue.DelayedKey[K]{Key: r.Key, In: r.Value.due - now},
			r.Value.delaySeq})
	}
	return s, delays
}

// UpdateMetrics visits only the keys that workers hold, so it is cheap.
func (q *Queue[K]) UpdateMetrics() {
	if q.gauges != nil {
		q.gauges(q.measure())
	}
}

func (q *Queue[K]) measure() (depth int, unfinished, longest time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for _, h := range q.processing {
		age := now - h.started
		unfinished += age
		longest = max(longest, age)
	}
	return q.fifo.Len(), unfinished, longest
}
