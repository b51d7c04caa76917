package fast

import (
	"time"

	"orrery/queue"
)

// DelayingQueue is a Queue with AddAfter, which adds a key after a delay.
//
// The delayed keys are in a heap under the queue's lock, so AddAfter never blocks and Add can
// cancel a delay. One timer is set to the earliest deadline; ShutDown stops it. A queue that is
// dropped without ShutDown stays in memory until the timer fires.
type DelayingQueue[K comparable] struct {
	Queue[K]
}

// NewDelaying returns a new delaying queue.
func NewDelaying[K comparable](config queue.Config[K]) *DelayingQueue[K] {
	q := new(DelayingQueue[K])
	q.init(config)
	return q
}

// AddAfter adds key after the delay. Keys with equal deadlines are added in the order of the calls.
// A key may be delayed while it is queued or in progress: it is processed now and once more later.
func (q *DelayingQueue[K]) AddAfter(key K, after time.Duration) {
	hash := q.records.Hash(key)
	q.mu.Lock()
	what, seq, wait := q.addAfterLocked(key, hash, after)
	q.mu.Unlock()
	if q.trace != nil {
		report(q.trace, what, key, seq, wait)
	}
}

func (q *Queue[K]) addAfterLocked(key K, hash uint32,
	after time.Duration) (what effect, seq uint64, wait time.Duration) {
	if q.shuttingDown {
		return refused, q.countLocked(refused), 0
	}
	ref, r := q.records.Obtain(key, hash)
	if after <= 0 {
		what = delayed | q.dirtyLocked(ref, r)
		return what, q.countLocked(what), 0
	}
	now := q.now()
	q.delayLocked(ref, r, saturatingAdd(now, after))
	q.armLocked(now)
	return delayed, q.countLocked(delayed), r.Value.due - now
}

// delayLocked delays r until due, unless an earlier deadline is set.
func (q *Queue[K]) delayLocked(ref uint32, r *record[K], due time.Duration) {
	if r.Value.delayed() && r.Value.due <= due {
		return
	}
	q.delaySeq++
	r.Value.due, r.Value.delaySeq = due, q.delaySeq
	if r.Value.delayed() {
		q.delays.fix(r)
	} else {
		q.delays.push(ref)
	}
}

// saturatingAdd keeps a huge delay from wrapping around into the past.
func saturatingAdd(now, after time.Duration) time.Duration {
	if after > never-now {
		return never
	}
	return now + after
}

// armLocked sets the timer to the earliest deadline, unless it fires before that anyway. A timer
// that fires too early finds nothing to do and is armed again, which is cheaper than resetting it
// for each canceled delay.
func (q *Queue[K]) armLocked(now time.Duration) {
	if q.delays.len() == 0 {
		return
	}
	_, first := q.delays.first()
	if first.Value.due >= q.alarm {
		return
	}
	q.alarm = first.Value.due
	if q.timer == nil {
		q.timer = time.AfterFunc(q.alarm-now, q.fire)
	} else {
		q.timer.Reset(q.alarm - now)
	}
}

// endingsPerLock bounds how long the lock is held when very many delays end together.
const endingsPerLock = 1000

// fire is the timer's function. Two calls may run at the same time if the timer is armed again
// while the first runs; each takes the delays that it finds.
func (q *Queue[K]) fire() {
	for {
		endings, more := q.endDelays()
		for _, e := range endings {
			report(q.trace, e.what, e.key, e.seq, e.late)
		}
		if !more {
			return
		}
	}
}

// ending is what fire reports to the trace about one key.
type ending[K comparable] struct {
	key  K
	what effect
	seq  uint64
	late time.Duration
}

// endDelays marks keys dirty whose delay has ended. It returns what to report to the trace, and
// whether more delays have ended than one turn handles.
func (q *Queue[K]) endDelays() (endings []ending[K], more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for n := 0; q.delays.len() > 0; n++ {
		ref, r := q.delays.first()
		if r.Value.due > now {
			break
		}
		if n == endingsPerLock {
			return endings, true
		}
		q.delays.remove(r)
		what := delayEnded | q.dirtyLocked(ref, r)
		seq := q.countLocked(what)
		if q.trace != nil {
			endings = append(endings, ending[K]{r.Key, what, seq, now - r.Value.due})
		}
	}
	q.alarm = never
	q.armLocked(now)
	return endings, false
}

// RateLimitingQueue is a DelayingQueue with a RateLimiter: AddRateLimited delays a failed key as
// long as the limiter decides.
type RateLimitingQueue[K comparable] struct {
	DelayingQueue[K]
	limiter queue.RateLimiter[K] // set by NewRateLimiting, never changed
}

// NewRateLimiting returns a new rate-limiting queue. A nil limiter means
// DefaultControllerRateLimiter.
func NewRateLimiting[K comparable](limiter queue.RateLimiter[K], config queue.Config[K]) *RateLimitingQueue[K] {
	if limiter == nil {
		limiter = queue.DefaultControllerRateLimiter[K]()
	}
	q := &RateLimitingQueue[K]{limiter: limiter}
	q.init(config)
	return q
}

func (q *RateLimitingQueue[K]) AddRateLimited(key K) {
	wait := q.limiter.When(key)
	if q.trace != nil && q.trace.Retried != nil {
		q.trace.Retried(key, q.limiter.NumRequeues(key), wait)
	}
	q.AddAfter(key, wait)
}

// Forget clears the failures of key in the limiter. It does not cancel a delay.
func (q *RateLimitingQueue[K]) Forget(key K) {
	q.limiter.Forget(key)
	if q.trace != nil {
		call(q.trace.Forgotten, key)
	}
}

func (q *RateLimitingQueue[K]) NumRequeues(key K) int { return q.limiter.NumRequeues(key) }
