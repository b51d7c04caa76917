package queue

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// DelayingQueue is a Queue with AddAfter, which adds a key after a delay. The delayed keys are in a
// heap under the queue's lock, and one timer is set to the earliest deadline. So AddAfter never
// blocks, and Add can cancel a delay.
//
// (client-go passes delayed keys through a channel to a goroutine that keeps the heap and wakes at
// least every ten seconds.)
//
// What it lacks is speed: each delay costs a map entry and an allocation. Package queue/fast avoids
// both. Read AddAfter first, then endDelays.
type DelayingQueue[K comparable] struct {
	Queue[K]

	// Guarded by the lock. Invariant: the same entries in both, none after ShutDown.
	waitingForQueue waitForPriorityQueue[K]
	waitingByKey    map[K]*waitFor[K]
	entrySeq        int         // seq of the last entry
	timer           *time.Timer // set to the first deadline, or earlier after a cancellation; nil at first
	stopped         bool
}

// NewDelaying returns a new delaying queue.
func NewDelaying[K comparable](config Config[K]) *DelayingQueue[K] {
	q := new(DelayingQueue[K])
	q.init(config)
	return q
}

func (q *DelayingQueue[K]) init(config Config[K]) {
	q.Queue.init(config)
	q.waitingByKey = map[K]*waitFor[K]{}
}

// Add adds key now and cancels its delay, so that the key is processed once. (client-go processes
// it twice, kubernetes/kubernetes#112325.)
func (q *DelayingQueue[K]) Add(key K) {
	q.lock()
	defer q.unlock()
	q.cancelLocked(key)
	q.addLocked(key)
}

func (q *DelayingQueue[K]) cancelLocked(key K) {
	if delayed, ok := q.waitingByKey[key]; ok {
		heap.Remove(&q.waitingForQueue, delayed.index)
		delete(q.waitingByKey, key)
		q.record(q.trace.DelayCanceled, key)
	}
}

// AddAfter adds key after the delay; see DelayingInterface. A delay of 0 or less adds key now and
// cancels its delay, as Add does. If key is already delayed, the earlier deadline wins. Once the
// queue is stopped, AddAfter records Refused and does nothing else. Otherwise it records Delayed
// with the time that is left until key's deadline (0 without a delay), before any other event.
func (q *DelayingQueue[K]) AddAfter(key K, after time.Duration) {
	q.lock()
	defer q.unlock()
	if q.stopped {
		q.record(q.trace.Refused, key)
		return
	}
	if after <= 0 {
		q.recordTime(q.trace.Delayed, key, 0)
		q.cancelLocked(key)
		q.addLocked(key)
		return
	}
	readyAt := time.Now().Add(after)
	q.insertLocked(key, readyAt)
	q.recordTime(q.trace.Delayed, key, time.Until(q.waitingByKey[key].readyAt))
	q.armLocked()
}

// insertLocked delays key until readyAt, unless it is already delayed until then or an earlier
// time. The heap orders the entries by readyAt, then by seq. A new entry gets the next number of
// entrySeq, so equal deadlines end in the order of their AddAfter calls. It replaces the old entry
// in the heap and in waitingByKey; a changed readyAt alone would break the order of the heap.
func (q *DelayingQueue[K]) insertLocked(key K, readyAt time.Time) {
	entry, ok := q.waitingByKey[key]
	if ok && !readyAt.Before(entry.readyAt) {
		return
	}
	if ok {
		heap.Remove(&q.waitingForQueue, entry.index)
	}
	q.entrySeq++
	entry = &waitFor[K]{key: key, readyAt: readyAt, seq: q.entrySeq}
	q.waitingByKey[key] = entry
	heap.Push(&q.waitingForQueue, entry)
}

// armLocked sets the timer to the end of the first delay, if there is one. The timer calls
// endDelays once; Reset sets it again.
func (q *DelayingQueue[K]) armLocked() {
	if len(q.waitingForQueue) == 0 {
		return
	}
	wait := time.Until(q.waitingForQueue[0].readyAt)
	if q.timer == nil {
		q.timer = time.AfterFunc(wait, q.endDelays)
	} else {
		q.timer.Reset(wait)
	}
}

// endDelays adds the keys whose delays have ended, the earliest first, and arms the timer for the
// rest. For each key it records DelayEnded, with how late it is, and then calls addLocked. The
// timer calls it without the lock. It may find nothing to do: its delay may have been canceled.
func (q *DelayingQueue[K]) endDelays() {
	q.lock()
	defer q.unlock()
	now := time.Now()
	for len(q.waitingForQueue) > 0 && !q.waitingForQueue[0].readyAt.After(now) {
		entry := heap.Pop(&q.waitingForQueue).(*waitFor[K])
		delete(q.waitingByKey, entry.key)
		q.recordTime(q.trace.DelayEnded, entry.key, now.Sub(entry.readyAt))
		q.addLocked(entry.key)
	}
	q.armLocked()
}

// ShutDown drops the delayed keys: to add them now would be too early. The controller finds their
// objects again when it next starts, in its first list.
func (q *DelayingQueue[K]) ShutDown() {
	q.lock()
	defer q.unlock()
	q.beginShutDown(false, q.dropDelaysLocked())
}

// ShutDownWithDrain drops the delays as well.
func (q *DelayingQueue[K]) ShutDownWithDrain() {
	q.lock()
	shutDowns := q.beginShutDown(true, q.dropDelaysLocked())
	q.unlock()
	q.drain(shutDowns)
}

// dropDelaysLocked drops all delays, stops the timer, and sets stopped. It returns the number of
// delays.
func (q *DelayingQueue[K]) dropDelaysLocked() (dropped int) {
	dropped = len(q.waitingByKey)
	q.waitingForQueue, q.waitingByKey, q.stopped = nil, nil, true
	if q.timer != nil {
		q.timer.Stop()
	}
	return dropped
}

// Snapshot returns the queue's present content.
func (q *DelayingQueue[K]) Snapshot() Snapshot[K] {
	q.lock()
	defer q.unlock()
	s := q.snapshotLocked()
	for _, entry := range slices.SortedFunc(slices.Values(q.waitingForQueue), (*waitFor[K]).compare) {
		s.Delayed = append(s.Delayed, DelayedKey[K]{entry.key, time.Until(entry.readyAt)})
	}
	return s
}

// waitFor is a delayed key.
type waitFor[K comparable] struct {
	key     K
	readyAt time.Time
	seq     int // breaks ties between equal readyAt
	index   int // in the heap
}

func (e *waitFor[K]) compare(other *waitFor[K]) int {
	return cmp.Or(e.readyAt.Compare(other.readyAt), cmp.Compare(e.seq, other.seq))
}

// waitForPriorityQueue is a heap; the entry that is ready first is at index 0. Its
// methods are those of heap.Interface.
type waitForPriorityQueue[K comparable] []*waitFor[K]

func (pq waitForPriorityQueue[K]) Len() int           { return len(pq) }
func (pq waitForPriorityQueue[K]) Less(i, j int) bool { return pq[i].compare(pq[j]) < 0 }
func (pq waitForPriorityQueue[K]) Swap(i, j int) {
	pq[i], pq[j] = pq[j], pq[i]
	pq[i].index, pq[j].index = i, j
}

// Push appends an entry; heap.Push then moves it to its place.
func (pq *waitForPriorityQueue[K]) Push(x any) {
	entry := x.(*waitFor[K])
	entry.index = len(*pq)
	*pq = append(*pq, entry)
}

// Pop removes the last entry; heap.Pop has moved the first one there.
func (pq *waitForPriorityQueue[K]) Pop() any {
	last := len(*pq) - 1
	entry := (*pq)[last]
	(*pq)[last] = nil // for the garbage collector
	*pq = (*pq)[:last]
	return entry
}
