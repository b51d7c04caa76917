package fast

import (
	"math"
	"math/bits"
	"sync"
	"time"

	"orrery/internal/table"
	"orrery/queue"
)

// Queue is the work queue between event handlers and workers. queue.Interface documents its
// methods. Use New; the zero value is not usable.
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
	name  string
	trace *queue.Trace[K] // the caller's and the metrics'; nil if there is neither
	timed bool            // a hook takes how long keys wait or are worked on
	born  time.Time       // origin of the queue's clock
	// gauges sets the metrics of the present state; nil without metrics.
	gauges func(depth int, unfinished, longest time.Duration)

	mu        sync.Mutex
	available sync.Cond // Get waits for a key or the shutdown
	idle      sync.Cond // ShutDownWithDrain waits for the last Done or for ShutDown

	// Guarded by mu: the keys. checkLocked has the invariants.
	records    table.Table[K, state]
	fifo       table.Ring[uint32] // queued keys: references to records
	processing []inFlight[K]      // keys that workers hold, in no order
	delays     delayHeap[K]       // delayed keys
	delaySeq   uint32             // the last one given to a record in delays
	seq        uint64             // number of the last event

	// Guarded by mu: the goroutines.
	waiters      int // in Get
	drainers     int // in ShutDownWithDrain
	shutdowns    int // calls of ShutDown so far; one more ends every drain
	shuttingDown bool

	// Guarded by mu: the timer.
	// Invariant: while a key is delayed, alarm <= due of the first delay.
	timer *time.Timer   // nil until the first delay
	alarm time.Duration // when timer fires; never if it does not
}

// never is later than any point in time on the queue's clock.
const never time.Duration = math.MaxInt64

// New returns a new queue.
func New[K comparable](config queue.Config[K]) *Queue[K] {
	q := new(Queue[K])
	q.init(config)
	return q
}

func (q *Queue[K]) init(config queue.Config[K]) {
	q.name = config.Name
	q.trace, q.gauges = config.Instrument()
	q.timed = q.trace != nil && (q.trace.Got != nil || q.trace.Done != nil)
	q.born = time.Now()
	q.alarm = never
	q.available.L = &q.mu
	q.idle.L = &q.mu
	q.records = table.New[K, state](0)
	q.delays.records = &q.records
}

// now reads the queue's clock, at half the price of time.Now and a third of the size.
func (q *Queue[K]) now() time.Duration { return time.Since(q.born) }

// stamp reads the clock if a hook takes a duration.
func (q *Queue[K]) stamp() time.Duration {
	if !q.timed {
		return 0
	}
	return q.now()
}

// Add also cancels the key's delay, so that the key is processed once.
func (q *Queue[K]) Add(key K) {
	hash := q.records.Hash(key)
	q.mu.Lock()
	what, seq := q.addLocked(key, hash)
	q.mu.Unlock() // a defer would cost one nanosecond in twenty
	if q.trace != nil {
		report(q.trace, what, key, seq, 0)
	}
}

func (q *Queue[K]) addLocked(key K, hash uint32) (what effect, seq uint64) {
	if q.shuttingDown {
		return refused, q.countLocked(refused)
	}
	ref, r := q.records.Obtain(key, hash)
	what = q.dirtyLocked(ref, r)
	return what, q.countLocked(what)
}

// dirtyLocked marks the key of r as needing processing now.
func (q *Queue[K]) dirtyLocked(ref uint32, r *record[K]) (what effect) {
	s := &r.Value
	if s.delayed() {
		q.delays.remove(r)
		what = delayCanceled
	}
	if s.dirty {
		return what | coalesced
	}
	s.dirty = true
	s.added = q.stamp()
	if !s.processing() {
		q.pushLocked(ref)
	}
	return what | added
}

// countLocked gives the events of a record consecutive numbers and returns the first.
func (q *Queue[K]) countLocked(what effect) (seq uint64) {
	seq = q.seq + 1
	q.seq += uint64(bits.OnesCount8(uint8(what)))
	return seq
}

// pushLocked appends a record to the order and wakes one worker. No wake-up is lost: a worker
// counts itself as a waiter before it releases the lock.
func (q *Queue[K]) pushLocked(ref uint32) {
	q.fifo.Push(ref)
	if q.waiters > 0 {
		q.available.Signal()
	}
}

func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.fifo.Len()
}

func (q *Queue[K]) Get() (key K, shutdown bool) {
	q.mu.Lock()
	if q.fifo.Len() == 0 && !q.waitLocked() {
		q.mu.Unlock()
		return key, true
	}
	key, seq, waited := q.takeLocked()
	q.mu.Unlock()
	if q.trace != nil {
		call2(q.trace.Got, queue.Event[K]{Key: key, Seq: seq}, waited)
	}
	return key, false
}

// waitLocked blocks until a key is queued. It returns false if none will be.
func (q *Queue[K]) waitLocked() bool {
	for q.fifo.Len() == 0 {
		if q.shuttingDown {
			return false
		}
		q.waiters++
		q.available.Wait()
		q.waiters--
	}
	return true
}

// takeLocked hands out the first key of the order.
func (q *Queue[K]) takeLocked() (key K, seq uint64, waited time.Duration) {
	ref := q.fifo.Pop()
	r := q.records.At(ref)
	now := q.stamp()
	r.Value.dirty = false
	q.processing = append(q.processing, inFlight[K]{r.Key, ref, now})
	r.Value.processingPlace = int32(len(q.processing))
	q.seq++
	return r.Key, q.seq, now - r.Value.added
}

// Done ignores a key that no worker holds, and reports it to Trace.DoneUnknown.
func (q *Queue[K]) Done(key K) {
	q.mu.Lock()
	known, seq, worked := q.doneLocked(key)
	q.mu.Unlock()
	switch {
	case q.trace == nil:
	case known:
		call2(q.trace.Done, queue.Event[K]{Key: key, Seq: seq}, worked)
	default:
		call(q.trace.DoneUnknown, queue.Event[K]{Key: key, Seq: seq})
	}
}

func (q *Queue[K]) doneLocked(key K) (known bool, seq uint64, worked time.Duration) {
	q.seq++
	place := len(q.processing) - 1
	if place < 0 || q.processing[place].key != key { // the last one handed out is the likeliest
		if place = q.placeLocked(key); place < 0 {
			return false, q.seq, 0
		}
	}
	return true, q.seq, q.giveBackLocked(place)
}

// giveBackLocked is Done of a key that a worker holds.
func (q *Queue[K]) giveBackLocked(place int) (worked time.Duration) {
	worked = q.stamp() - q.processing[place].started
	ref, r := q.releaseLocked(place)
	if r.Value.dirty {
		q.pushLocked(ref)
	} else {
		q.forgetIfIdleLocked(ref, r)
	}
	if q.drainers > 0 && q.idleLocked() {
		q.idle.Broadcast()
	}
	return worked
}
