package queue

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Queue is the work queue of the textbook: two sets and a list under one lock.
//
//	Add ------------------> queue --Get--> processing --Done--> (gone)
//	                          ^                |
//	                          +----- Done -----+  if it is dirty again
//
// For example, a is added, and a worker gets it: a is in processing. During its pass a is added
// again. It is dirty now, and waits for Done, since no two workers may hold the same key. Done
// finds it dirty and queues it. However often a is added before the next Get, it is queued once.
//
// What it lacks is speed: a key costs nine map operations, each Get moves the slice on, so that
// append needs a new array again and again, and there are no batches. Package queue/fast avoids
// these costs.
//
// Read addLocked, Get and Done first. All methods may be called from any goroutine. A Queue starts
// no goroutine.
type Queue[K comparable] struct {
	recorder[K] // has the mutex; unlock releases it and then calls the recorded hooks (trace.go)
	name        string
	gauges      gaugeSetter // nil without metrics
	// Get and drain wait on cond. Signal suffices: Get waits only before a shutdown and drain only
	// after one, so they never wait together.
	cond sync.Cond

	// Guarded by the lock. Invariant: each key in queue is in dirty and not in processing.
	queue        []K             // in the order in which Get hands them out
	dirty        map[K]time.Time // the keys that need processing, and since when
	processing   map[K]time.Time // the keys that workers hold, and since when
	shuttingDown bool
	shutDowns    int // calls of ShutDown; another call ends the drains that are waiting
	drains       int // goroutines in ShutDownWithDrain
	waiting      int // goroutines in Get
}

// New returns a new queue.
func New[K comparable](config Config[K]) *Queue[K] {
	q := new(Queue[K])
	q.init(config)
	return q
}

func (q *Queue[K]) init(config Config[K]) {
	trace, gauges := config.Instrument()
	if trace != nil {
		q.trace = *trace
	}
	q.name, q.gauges = config.Name, gauges
	q.cond.L = &q.mu
	q.dirty = map[K]time.Time{}
	q.processing = map[K]time.Time{}
}

// Add marks key as needing processing; see Interface.
func (q *Queue[K]) Add(key K) {
	q.lock()
	defer q.unlock()
	q.addLocked(key)
}

// addLocked is Add with mu held. DelayingQueue calls it, too. It records one event: Refused after a
// shutdown, Coalesced if key is dirty already, otherwise Added. One key wakes one goroutine in Get.
func (q *Queue[K]) addLocked(key K) {
	if q.shuttingDown {
		q.record(q.trace.Refused, key)
		return
	}
	if _, ok := q.dirty[key]; ok {
		q.record(q.trace.Coalesced, key)
		return
	}
	q.dirty[key] = time.Now()
	q.record(q.trace.Added, key)
	if _, ok := q.processing[key]; ok {
		return // Done will find it dirty and queue it
	}
	q.queue = append(q.queue, key)
	q.cond.Signal()
}

// Len returns the number of queued keys; see Interface.
func (q *Queue[K]) Len() int {
	q.lock()
	defer q.unlock()
	return len(q.queue)
}

// Get blocks until a key is queued and returns it; see Interface. It adds 1 to waiting while it
// blocks. It records Got, with the time since the key became dirty; a shutdown records nothing.
func (q *Queue[K]) Get() (key K, shutdown bool) {
	q.lock()
	defer q.unlock()
	q.waiting++
	for len(q.queue) == 0 && !q.shuttingDown {
		q.cond.Wait()
	}
	q.waiting--
	if len(q.queue) == 0 {
		return key, true
	}
	key = q.queue[0]
	clear(q.queue[:1]) // for the garbage collector
	q.queue = q.queue[1:]

	now := time.Now()
	q.recordTime(q.trace.Got, key, now.Sub(q.dirty[key]))
	q.processing[key] = now
	delete(q.dirty, key)
	return key, false
}

// Done gives back a key; see Interface. It records Done, with the time since Get, and wakes every
// ShutDownWithDrain if that was the last key. It ignores a key that no worker holds, and records
// DoneUnknown. (client-go would queue it again, and two workers could hold it at once.)
func (q *Queue[K]) Done(key K) {
	q.lock()
	defer q.unlock()
	began, ok := q.processing[key]
	if !ok {
		q.record(q.trace.DoneUnknown, key)
		return
	}
	delete(q.processing, key)
	q.recordTime(q.trace.Done, key, time.Since(began))
	if _, ok := q.dirty[key]; ok {
		q.queue = append(q.queue, key)
		q.cond.Signal()
	}
	if q.drains > 0 && q.idleLocked() {
		q.cond.Broadcast()
	}
}

func (q *Queue[K]) idleLocked() bool { return len(q.queue) == 0 && len(q.processing) == 0 }

// ShutDown makes the queue refuse new keys and returns at once; see Interface.
func (q *Queue[K]) ShutDown() {
	q.lock()
	defer q.unlock()
	q.beginShutDown(false, 0)
}

// ShutDownWithDrain makes the queue refuse new keys, and waits until no key is queued and no worker
// holds one, or until ShutDown.
func (q *Queue[K]) ShutDownWithDrain() {
	q.lock()
	shutDowns := q.beginShutDown(true, 0)
	q.unlock()
	q.drain(shutDowns)
}

// beginShutDown makes the queue refuse new keys and wakes all waiters. It counts the call in
// shutDowns, unless drain is true, and returns that number. It records the shutdown with the number
// of delays that were dropped; a Queue has none. The caller holds the lock.
func (q *Queue[K]) beginShutDown(drain bool, delays int) (shutDowns int) {
	if !drain {
		q.shutDowns++
	}
	q.shuttingDown = true
	q.recordShutDown(drain, delays)
	q.cond.Broadcast()
	return q.shutDowns
}

// drain blocks until no key is queued and no worker holds one, or until q.shutDowns differs from
// shutDowns. It adds 1 to drains while it blocks.
func (q *Queue[K]) drain(shutDowns int) {
	q.lock()
	defer q.unlock()
	q.drains++
	for !q.idleLocked() && q.shutDowns == shutDowns {
		q.cond.Wait()
	}
	q.drains--
}

// ShuttingDown reports whether ShutDown or ShutDownWithDrain was called.
func (q *Queue[K]) ShuttingDown() bool {
	q.lock()
	defer q.unlock()
	return q.shuttingDown
}

// Snapshot returns the queue's present content.
func (q *Queue[K]) Snapshot() Snapshot[K] {
	q.lock()
	defer q.unlock()
	return q.snapshotLocked()
}

func (q *Queue[K]) snapshotLocked() Snapshot[K] {
	s := Snapshot[K]{
		Name:         q.name,
		Seq:          q.seq,
		Queued:       slices.Clone(q.queue),
		Waiting:      q.waiting,
		ShuttingDown: q.shuttingDown,
		Draining:     q.drains > 0,
	}
	for key, began := range q.processing {
		_, dirty := q.dirty[key]
		s.Processing = append(s.Processing, ProcessingKey[K]{key, time.Since(began), dirty})
	}
	slices.SortFunc(s.Processing, func(a, b ProcessingKey[K]) int { return cmp.Compare(b.For, a.For) })
	return s
}

// UpdateMetrics sets the three gauges; see ObservableInterface.
func (q *Queue[K]) UpdateMetrics() { setGauges(q.gauges, q.Snapshot()) }
