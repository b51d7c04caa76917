package queuebench

import (
	"sync"
	"time"

	"orrery/queue"
)

// Article is the queue as articles draw it: two sets and a slice under one lock, every Add wakes a worker, every delay is a
// timer. It is right, and short; what it costs is seven map operations a key, a slice that is allocated again and
// again, a wake-up for each key, and a timer for each delay. (queuetest.Naive is its kind, with all that a queue has to do at a
// shutdown.)
func Article() Subject { return article{} }

type article struct{}

func (article) Name() string                  { return "article" }
func (article) Supports(scenario string) bool { return scenario != ScenarioCycleMetrics }

func (article) New(options Options) Queue {
	q := &articleQueue{dirty: map[string]struct{}{}, processing: map[string]struct{}{}}
	q.cond.L = &q.mu
	q.timers = newTimers(options, q.Add)
	return q
}

type articleQueue struct {
	*timers

	mu   sync.Mutex
	cond sync.Cond

	// Guarded by mu.
	dirty, processing map[string]struct{}
	waiting           []string
	shuttingDown      bool
}

func (q *articleQueue) Add(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, dirty := q.dirty[key]; dirty || q.shuttingDown {
		return
	}
	q.dirty[key] = struct{}{}
	if _, processing := q.processing[key]; !processing {
		q.waiting = append(q.waiting, key)
		q.cond.Signal()
	}
}

func (q *articleQueue) Get() (key string, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 {
		if q.shuttingDown {
			return "", true
		}
		q.cond.Wait()
	}
	key, q.waiting = q.waiting[0], q.waiting[1:]
	q.processing[key] = struct{}{}
	delete(q.dirty, key)
	return key, false
}

func (q *articleQueue) Done(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.processing, key)
	if _, dirty := q.dirty[key]; dirty {
		q.waiting = append(q.waiting, key)
		q.cond.Signal()
	}
}

func (q *articleQueue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func (q *articleQueue) ShutDown() {
	q.timers.stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shuttingDown = true
	q.cond.Broadcast()
}

// timers are delays that are a timer each.
type timers struct {
	add     func(key string)
	limiter queue.RateLimiter[string]

	mu     sync.Mutex
	delays map[string]*time.Timer // guarded by mu; nil once stopped
}

func newTimers(options Options, add func(string)) *timers {
	return &timers{
		add:     add,
		limiter: queue.NewItemExponentialFailureRateLimiter[string](options.Backoffs()),
		delays:  map[string]*time.Timer{},
	}
}

// AddAfter adds key when after has passed. A later AddAfter of the same key takes the place of the earlier.
func (t *timers) AddAfter(key string, after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.delays == nil {
		return
	}
	if old := t.delays[key]; old != nil {
		old.Stop()
	}
	t.delays[key] = time.AfterFunc(after, func() { t.end(key) })
}

func (t *timers) end(key string) {
	t.mu.Lock()
	delete(t.delays, key)
	t.mu.Unlock()
	t.add(key)
}

func (t *timers) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, timer := range t.delays {
		timer.Stop()
	}
	t.delays = nil
}

// AddRateLimited adds key after its back-off.
func (t *timers) AddRateLimited(key string) { t.AddAfter(key, t.limiter.When(key)) }

// NumRequeues is the number of failures of key.
func (t *timers) NumRequeues(key string) int { return t.limiter.NumRequeues(key) }
