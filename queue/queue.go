package queue

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"time"
)

// Queue is the work queue between the event handlers that say "look at this key"
// and the workers that look. Make it with New; the zero value is not usable.
//
//	      Add ------------------> waiting --Get--> processing --Done--> (gone)
//	       ^                        ^                  |
//	       |                        +---- Done --------+  if added meanwhile
//	AddAfter --> delayed --timer--+
//
// All methods may be called from any goroutine. A Queue starts no goroutine; one
// with delays owns a timer (see DelayingQueue).
type Queue[K comparable] struct {
	// Set by New, never changed.
	name        string
	trace       *Trace[K] // the caller's and the metrics'; nil if there is neither
	gauges      *gauges   // nil without metrics
	timed       bool      // somebody wants to know how long keys wait and are worked on
	holdBackoff bool
	punctual    bool
	born        time.Time // zero of the queue's clock

	mu        sync.Mutex
	available sync.Cond // Get waits here for a key or for the shutdown
	idle      sync.Cond // ShutDownWithDrain waits here for the last Done or for ShutDown

	// Guarded by mu: the keys. checkLocked has the invariants.
	records    table[K, state]
	settled    int          // how many of the records are settled
	order      Order[K]     // where keys wait, if the caller brought an order
	fifo       ring[uint32] // where keys wait otherwise: references of records
	processing []holding[K] // keys that workers hold, in no order
	delays     delayHeap[K] // keys that wait for their delay to end
	ticket     uint32       // the last one given to a record in delays
	seq        uint64       // number of the last event

	// Guarded by mu: the goroutines.
	waiters      int // in Get
	drainers     int // in ShutDownWithDrain
	shutdowns    int // calls of ShutDown so far; one more ends every drain
	shuttingDown bool

	// Guarded by mu: the timer.
	// Invariant: while something is delayed, alarm <= due of the first delay.
	timer timer         // nil until something is delayed
	alarm time.Duration // when timer fires; never if it does not
}

// never is later than any point in time on the queue's clock.
const never time.Duration = math.MaxInt64

// New makes a queue.
func New[K comparable](config Config[K]) *Queue[K] {
	q := new(Queue[K])
	q.init(config)
	return q
}

func (q *Queue[K]) init(config Config[K]) {
	q.name = config.Name
	q.trace = config.Trace
	if config.Metrics != nil {
		q.gauges = newGauges(config.Metrics, config.Name)
		q.trace = JoinTraces(metricsTrace[K](config.Metrics, config.Name), config.Trace)
	}
	q.timed = q.trace != nil && (q.trace.Got != nil || q.trace.Done != nil)
	q.holdBackoff = config.HoldBackoff
	q.punctual = config.Punctual
	q.order = config.Order
	q.born = time.Now()
	q.alarm = never
	q.available.L = &q.mu
	q.idle.L = &q.mu
	q.records = newTable[K, state]()
	q.delays.records = &q.records
}

// now reads the queue's clock: half the price of time.Now, a third of the size.
func (q *Queue[K]) now() time.Duration { return time.Since(q.born) }

// stamp reads the clock if somebody is going to be told how long things took.
func (q *Queue[K]) stamp() time.Duration {
	if !q.timed {
		return 0
	}
	return q.now()
}

// Add says that key needs processing; see Interface. If key waits for a delay,
// the delay is given up: the key comes now, once, and not a second time later.
// (The original lets it come twice, kubernetes/kubernetes#112325.)
func (q *Queue[K]) Add(key K) {
	what, seq, wait := q.add(key, q.records.hash(key))
	if q.trace != nil {
		q.trace.report(what, key, seq, wait)
	}
}

func (q *Queue[K]) add(key K, hash uint32) (what effect, seq uint64, wait time.Duration) {
	q.mu.Lock()
	if q.order != nil { // foreign code, which may panic
		defer q.mu.Unlock()
		return q.addLocked(key, hash)
	}
	what, seq, wait = q.addLocked(key, hash)
	q.mu.Unlock() // not deferred: it is a nanosecond in twenty
	return what, seq, wait
}

func (q *Queue[K]) addLocked(key K, hash uint32) (what effect, seq uint64, wait time.Duration) {
	if q.shuttingDown {
		return refused, q.countLocked(refused), 0
	}
	ref, r := q.obtainLocked(key, hash)
	if r.value.held && r.value.delayed() {
		return held, q.countLocked(held), r.value.due - q.now()
	}
	what = q.dirtyLocked(ref, r)
	return what, q.countLocked(what), 0
}

// dirtyLocked notes that the key of r needs processing, now.
func (q *Queue[K]) dirtyLocked(ref uint32, r *record[K]) (what effect) {
	s := &r.value
	if s.delayed() {
		q.delays.remove(r)
		what = delayCanceled
	}
	if s.dirty {
		if q.order != nil && s.queued() {
			q.order.Touch(r.key)
		}
		return what | coalesced
	}
	s.dirty = true
	s.added = q.stamp()
	if !s.processing() {
		q.pushLocked(ref, r)
	}
	return what | added
}

// countLocked gives numbers to the events in what and returns the first.
func (q *Queue[K]) countLocked(what effect) (seq uint64) {
	seq = q.seq + 1
	q.seq += uint64(bits.OnesCount8(uint8(what)))
	return seq
}

// pushLocked puts a record in the order and wakes one worker. There is no lost
// wake-up: a worker counts itself as waiter before it gives up the lock.
func (q *Queue[K]) pushLocked(ref uint32, r *record[K]) {
	if q.order != nil {
		q.order.Push(r.key)
	} else {
		q.fifo.push(ref)
	}
	if q.waiters > 0 {
		q.available.Signal()
	}
}

// popLocked takes the next record out of the caller's order.
func (q *Queue[K]) popLocked() (ref uint32, r *record[K]) {
	key := q.order.Pop()
	_, ref, r = q.records.find(key, q.records.hash(key))
	if r == nil || !r.value.queued() {
		panic(fmt.Sprintf("queue: Order.Pop returned %v, which it was not given", key))
	}
	return ref, r
}

func (q *Queue[K]) lenLocked() int {
	if q.order != nil {
		return q.order.Len()
	}
	return q.fifo.len()
}

// Len is the number of keys that wait for a worker; see Interface.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lenLocked()
}

// Get waits for a key and hands it out; see Interface.
func (q *Queue[K]) Get() (key K, shutdown bool) {
	key, seq, waited := q.get()
	if seq == 0 {
		return key, true
	}
	if q.trace != nil {
		call2(q.trace.Got, Event[K]{Key: key, Seq: seq}, waited)
	}
	return key, false
}

// get returns seq 0 if the queue is shut down and nothing waits.
func (q *Queue[K]) get() (key K, seq uint64, waited time.Duration) {
	q.mu.Lock()
	if q.order != nil { // foreign code, which may panic
		defer q.mu.Unlock()
		return q.getLocked()
	}
	key, seq, waited = q.getLocked()
	q.mu.Unlock()
	return key, seq, waited
}

func (q *Queue[K]) getLocked() (key K, seq uint64, waited time.Duration) {
	if q.lenLocked() == 0 && !q.waitLocked() {
		return key, 0, 0
	}
	return q.takeLocked()
}

// waitLocked blocks until a key waits, or returns false if none will.
func (q *Queue[K]) waitLocked() bool {
	for q.lenLocked() == 0 {
		if q.shuttingDown {
			return false
		}
		q.waiters++
		q.available.Wait()
		q.waiters--
	}
	return true
}

// takeLocked hands out a key that waits.
func (q *Queue[K]) takeLocked() (key K, seq uint64, waited time.Duration) {
	var ref uint32
	var r *record[K]
	if q.order == nil {
		ref = q.fifo.pop()
		r = q.records.at(ref)
	} else {
		ref, r = q.popLocked()
	}
	now := q.stamp()
	r.value.dirty = false
	q.processing = append(q.processing, holding[K]{r.key, ref, now})
	r.value.processingPlace = int32(len(q.processing))
	q.seq++
	return r.key, q.seq, now - r.value.added
}

// Done gives back a key; see Interface. A key that no worker holds is ignored and
// reported to Trace.DoneUnknown. (The original would queue it a second time,
// and two workers could then hold it at once.)
func (q *Queue[K]) Done(key K) {
	known, seq, worked := q.done(key)
	switch {
	case q.trace == nil:
	case known:
		call2(q.trace.Done, Event[K]{Key: key, Seq: seq}, worked)
	default:
		call(q.trace.DoneUnknown, Event[K]{Key: key, Seq: seq})
	}
}

func (q *Queue[K]) done(key K) (known bool, seq uint64, worked time.Duration) {
	q.mu.Lock()
	if q.order != nil { // foreign code, which may panic
		defer q.mu.Unlock()
		return q.doneLocked(key)
	}
	known, seq, worked = q.doneLocked(key)
	q.mu.Unlock()
	return known, seq, worked
}

func (q *Queue[K]) doneLocked(key K) (known bool, seq uint64, worked time.Duration) {
	q.seq++
	place := len(q.processing) - 1
	if place < 0 || q.processing[place].key != key { // the last one that was handed out is the likeliest
		if place = q.holdingLocked(key); place < 0 {
			return false, q.seq, 0
		}
	}
	return true, q.seq, q.giveBackLocked(place)
}

// giveBackLocked is Done of a key that a worker holds.
func (q *Queue[K]) giveBackLocked(place int) (worked time.Duration) {
	worked = q.stamp() - q.processing[place].started
	ref, r := q.releaseLocked(place)
	if r.value.dirty {
		q.pushLocked(ref, r)
	} else {
		q.settleLocked(r)
	}
	if q.drainers > 0 && q.idleLocked() {
		q.idle.Broadcast()
	}
	return worked
}
