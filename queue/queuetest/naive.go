package queuetest

import (
	"slices"
	"sync"
	"time"

	"orrery/queue"
)

// Naive is a work queue as one would draw it on a whiteboard: two sets and a
// slice, and a timer for each delay. It does everything that package queue does
// and passes the same suite; read it first. What it lacks is speed: a key goes
// through seven map operations, a delay costs a timer and a sort, and the slice
// is allocated again and again.
//
// The zero value is ready to use. Nothing is left of a Naive after ShutDown.
type Naive struct {
	// Limiter is asked by AddRateLimited.
	Limiter queue.RateLimiter[string]

	once    sync.Once
	mu      sync.Mutex
	changed sync.Cond // something below is different; everybody looks again

	// Guarded by mu.
	waiting      []string            // the order; each key is dirty and not processing
	dirty        map[string]struct{} // needs processing
	processing   map[string]struct{} // with a worker
	delays       []naiveDelay        // the one that ends first is first
	shutDowns    int                 // calls of ShutDown
	shuttingDown bool
}

type naiveDelay struct {
	key   string
	due   time.Time
	timer *time.Timer
}

// lock makes the zero value usable.
func (q *Naive) lock() {
	q.once.Do(func() {
		q.changed.L = &q.mu
		q.dirty = map[string]struct{}{}
		q.processing = map[string]struct{}{}
	})
	q.mu.Lock()
}

// Add says that key needs processing.
func (q *Naive) Add(key string) {
	q.lock()
	defer q.mu.Unlock()
	if q.shuttingDown {
		return
	}
	q.cancelLocked(key)
	q.addLocked(key)
}

func (q *Naive) addLocked(key string) {
	if _, ok := q.dirty[key]; ok {
		return
	}
	q.dirty[key] = struct{}{}
	if _, ok := q.processing[key]; ok {
		return // Done is going to see that it is dirty
	}
	q.waiting = append(q.waiting, key)
	q.changed.Broadcast()
}

// Get blocks until it can hand out a key, or until the queue is shut down and
// empty.
func (q *Naive) Get() (key string, shutdown bool) {
	q.lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 {
		if q.shuttingDown {
			return "", true
		}
		q.changed.Wait()
	}
	key, q.waiting = q.waiting[0], q.waiting[1:]
	q.processing[key] = struct{}{}
	delete(q.dirty, key)
	return key, false
}

// Done gives back a key.
func (q *Naive) Done(key string) {
	q.lock()
	defer q.mu.Unlock()
	if _, ok := q.processing[key]; !ok {
		return
	}
	delete(q.processing, key)
	if _, ok := q.dirty[key]; ok {
		q.waiting = append(q.waiting, key)
	}
	q.changed.Broadcast()
}

// Len is the number of keys that wait.
func (q *Naive) Len() int {
	q.lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// AddAfter adds key when after has passed.
func (q *Naive) AddAfter(key string, after time.Duration) {
	if after <= 0 {
		q.Add(key)
		return
	}
	q.lock()
	defer q.mu.Unlock()
	if q.shuttingDown {
		return
	}
	due := time.Now().Add(after)
	if i := q.delayOf(key); i >= 0 && !due.Before(q.delays[i].due) {
		return
	}
	q.cancelLocked(key)
	q.delays = append(q.delays, naiveDelay{key, due, time.AfterFunc(after, q.endDelays)})
	slices.SortStableFunc(q.delays, func(a, b naiveDelay) int { return a.due.Compare(b.due) })
}

// endDelays adds the keys whose delays are over. Each delay's timer calls it, and
// the first one that does finds all that end at the same time.
func (q *Naive) endDelays() {
	q.lock()
	defer q.mu.Unlock()
	for len(q.delays) > 0 && !q.delays[0].due.After(time.Now()) {
		key := q.delays[0].key
		q.cancelLocked(key)
		q.addLocked(key)
	}
}

func (q *Naive) cancelLocked(key string) {
	if i := q.delayOf(key); i >= 0 {
		q.delays[i].timer.Stop()
		q.delays = slices.Delete(q.delays, i, i+1)
	}
}

func (q *Naive) delayOf(key string) int {
	return slices.IndexFunc(q.delays, func(d naiveDelay) bool { return d.key == key })
}

// ShutDown makes the queue refuse new keys.
func (q *Naive) ShutDown() {
	q.lock()
	defer q.mu.Unlock()
	q.shutDowns++
	q.shutDownLocked()
}

// ShutDownWithDrain is ShutDown that waits until nothing waits or is with a
// worker.
func (q *Naive) ShutDownWithDrain() {
	q.lock()
	defer q.mu.Unlock()
	q.shutDownLocked()
	before := q.shutDowns
	for q.shutDowns == before && len(q.waiting)+len(q.processing) > 0 {
		q.changed.Wait()
	}
}

func (q *Naive) shutDownLocked() {
	q.shuttingDown = true
	for len(q.delays) > 0 {
		q.cancelLocked(q.delays[0].key)
	}
	q.changed.Broadcast()
}

// ShuttingDown reports whether the queue was shut down.
func (q *Naive) ShuttingDown() bool {
	q.lock()
	defer q.mu.Unlock()
	return q.shuttingDown
}

// AddRateLimited adds key when Limiter says so.
func (q *Naive) AddRateLimited(key string) { q.AddAfter(key, q.Limiter.When(key)) }

// Forget clears the failures of key.
func (q *Naive) Forget(key string) { q.Limiter.Forget(key) }

// NumRequeues is the number of failures of key.
func (q *Naive) NumRequeues(key string) int { return q.Limiter.NumRequeues(key) }
