package queuebench

import "sync"

// OneMap is Article with three changes: one map to a note about each key instead of two sets, a ring instead of a slice that
// is cut at the front, and no wake-up unless a worker sleeps. It shows what these buy, and with Orrery what is left for a
// table of one's own.
func OneMap() Subject { return oneMap{} }

type oneMap struct{}

func (oneMap) Name() string                  { return "one-map" }
func (oneMap) Supports(scenario string) bool { return scenario != ScenarioCycleMetrics }

func (oneMap) New(options Options) Queue {
	q := &oneMapQueue{notes: map[string]*note{}, ring: make([]*note, 64)}
	q.cond.L = &q.mu
	q.timers = newTimers(options, q.Add)
	return q
}

// note is what the queue knows about a key. It stays for as long as the queue has something to do with the key.
type note struct {
	key               string
	dirty, processing bool
}

type oneMapQueue struct {
	*timers

	mu   sync.Mutex
	cond sync.Cond

	// Guarded by mu.
	notes        map[string]*note
	ring         []*note // its length is a power of two
	head, count  int
	sleepers     int // in Get
	shuttingDown bool
}

func (q *oneMapQueue) Add(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.notes[key]
	switch {
	case q.shuttingDown, n != nil && n.dirty:
	case n == nil:
		n = &note{key: key, dirty: true}
		q.notes[key] = n
		q.push(n)
	default:
		n.dirty = true // and processing: Done is going to see it
	}
}

func (q *oneMapQueue) push(n *note) {
	if q.count == len(q.ring) {
		bigger := make([]*note, 2*len(q.ring))
		copy(bigger[copy(bigger, q.ring[q.head:]):], q.ring[:q.head])
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.count)&(len(q.ring)-1)] = n
	q.count++
	if q.sleepers > 0 {
		q.cond.Signal()
	}
}

func (q *oneMapQueue) Get() (key string, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.count == 0 {
		if q.shuttingDown {
			return "", true
		}
		q.sleepers++
		q.cond.Wait()
		q.sleepers--
	}
	n := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.count--
	n.dirty, n.processing = false, true
	return n.key, false
}

func (q *oneMapQueue) Done(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.notes[key]
	if n == nil || !n.processing {
		return
	}
	n.processing = false
	if n.dirty {
		q.push(n)
	} else {
		delete(q.notes, key)
	}
}

func (q *oneMapQueue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count
}

func (q *oneMapQueue) ShutDown() {
	q.timers.stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shuttingDown = true
	q.cond.Broadcast()
}
