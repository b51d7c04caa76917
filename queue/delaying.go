package queue

import "time"

// DelayingQueue is a Queue to which keys can be added later.
//
// The delayed keys are in a heap in the queue itself, under the same lock, so
// AddAfter never blocks and Add can give up a delay. One timer is set to the
// earliest end; its function runs in a goroutine of its own only while delays
// end. ShutDown stops the timer. A queue that is dropped without ShutDown costs
// its memory until the timer fires.
//
// (The original hands delayed keys through a channel to a goroutine that keeps
// the heap and wakes every ten seconds whether it has to or not.)
type DelayingQueue[K comparable] struct {
	Queue[K]
}

// NewDelaying makes a delaying queue.
func NewDelaying[K comparable](config Config[K]) *DelayingQueue[K] {
	q := new(DelayingQueue[K])
	q.init(config)
	return q
}

// AddAfter adds key when after has passed; see DelayingInterface. Keys whose
// delays end at the same instant come in the order of their AddAfter.
//
// A key may wait for a worker, or be with one, and be delayed as well: it was
// asked for now and once more later. Only an Add that comes after the AddAfter
// gives up the delay.
func (q *DelayingQueue[K]) AddAfter(key K, after time.Duration) {
	q.addAfter(key, after, false)
}

// Cancel gives up the delay of key and reports whether it had one. It does not
// concern a key that waits for a worker or is with one.
func (q *DelayingQueue[K]) Cancel(key K) bool {
	seq, canceled := q.cancel(key, q.records.hash(key))
	if canceled && q.trace != nil {
		q.trace.report(delayCanceled, key, seq, 0)
	}
	return canceled
}

func (q *Queue[K]) cancel(key K, hash uint32) (seq uint64, canceled bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, _, r := q.records.find(key, hash)
	if r == nil || !r.value.delayed() {
		return 0, false
	}
	q.delays.remove(r)
	q.settleLocked(r)
	return q.countLocked(delayCanceled), true
}

// addAfter is AddAfter; backoff says that the delay comes from the rate limiter.
func (q *Queue[K]) addAfter(key K, after time.Duration, backoff bool) {
	what, seq, wait := q.delay(key, q.records.hash(key), after, backoff)
	if q.trace != nil {
		q.trace.report(what, key, seq, wait)
	}
}

func (q *Queue[K]) delay(key K, hash uint32, after time.Duration, backoff bool) (what effect, seq uint64, wait time.Duration) {
	q.mu.Lock()
	if q.order != nil { // foreign code, which may panic
		defer q.mu.Unlock()
		return q.addAfterLocked(key, hash, after, backoff)
	}
	what, seq, wait = q.addAfterLocked(key, hash, after, backoff)
	q.mu.Unlock()
	return what, seq, wait
}

func (q *Queue[K]) addAfterLocked(key K, hash uint32, after time.Duration, backoff bool) (what effect, seq uint64, wait time.Duration) {
	if q.shuttingDown {
		return refused, q.countLocked(refused), 0
	}
	ref, r := q.obtainLocked(key, hash)
	now := q.now()
	switch {
	case r.value.delayed() && r.value.held && !backoff:
		return held, q.countLocked(held), r.value.due - now
	case after <= 0:
		what = delayed | q.dirtyLocked(ref, r)
		return what, q.countLocked(what), 0
	}
	q.delayLocked(ref, r, saturatingAdd(now, after), backoff)
	q.armLocked(now)
	return delayed, q.countLocked(delayed), r.value.due - now
}

// delayLocked lets r wait until due, unless it waits for an earlier end already.
func (q *Queue[K]) delayLocked(ref uint32, r *record[K], due time.Duration, backoff bool) {
	if r.value.delayed() && r.value.due <= due {
		return
	}
	q.ticket++
	r.value.due, r.value.ticket = due, q.ticket
	r.value.held = backoff && q.holdBackoff
	if r.value.delayed() {
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

// armLocked sets the timer to the end of the earliest delay, unless it fires
// before that anyway: a timer that fires too early finds nothing to do and is
// armed again, which is cheaper than moving it each time a delay is given up.
func (q *Queue[K]) armLocked(now time.Duration) {
	if q.delays.len() == 0 {
		return
	}
	_, first := q.delays.first()
	if first.value.due >= q.alarm {
		return
	}
	q.alarm = first.value.due
	if q.timer == nil {
		q.timer = newTimer(q.punctual, q.alarm-now, q.fire)
	} else {
		q.timer.Reset(q.alarm - now)
	}
}

// endingsPerLock bounds how long the lock is held when very many delays end at
// the same time.
const endingsPerLock = 1000

// fire is the timer's function. Two of it may run at the same time, if the timer
// is armed again while the first runs; each takes what it finds.
func (q *Queue[K]) fire() {
	for {
		endings, more := q.endDelays()
		for _, e := range endings {
			q.trace.report(e.what, e.key, e.seq, e.late)
		}
		if !more {
			return
		}
	}
}

// ending is what fire has to tell the trace about one key.
type ending[K comparable] struct {
	key  K
	what effect
	seq  uint64
	late time.Duration
}

// endDelays makes keys dirty whose delay is over. It returns what to tell the
// trace, and whether there are more than fit into one turn.
func (q *Queue[K]) endDelays() (endings []ending[K], more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for n := 0; q.delays.len() > 0; n++ {
		ref, r := q.delays.first()
		if r.value.due > now {
			break
		}
		if n == endingsPerLock {
			return endings, true
		}
		q.delays.remove(r)
		what := delayEnded | q.dirtyLocked(ref, r)
		seq := q.countLocked(what)
		if q.trace != nil {
			endings = append(endings, ending[K]{r.key, what, seq, now - r.value.due})
		}
	}
	q.alarm = never
	q.armLocked(now)
	return endings, false
}
