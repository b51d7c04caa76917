package apps

import (
	"sync"
	"time"
)

// expectations records, for each set, the pods that the controller has created or deleted and whose
// events have not arrived. Until all of them have, the store is behind, and its pods must not be
// counted.
//
// An expectation is raised before the request is sent, since the event may overtake the answer. The
// event lowers it, and so does a request that failed, because no event follows.
type expectations struct {
	mu   sync.Mutex
	sets map[string]*expectation // by UID
}

// expectationTimeout is how long a set waits for an event. A watch that breaks may never deliver
// it.
const expectationTimeout = 5 * time.Minute

// expectation holds the events that one set waits for.
type expectation struct {
	key       string // of the set, in the queue
	creations int
	// pods by UID, because each deletion causes two events: when it begins, and when the pod is
	// gone
	deletions map[string]bool
	raised    time.Time
}

func newExpectations() *expectations { return &expectations{sets: map[string]*expectation{}} }

// satisfied reports whether all events have arrived, or have been waited for long enough.
func (e *expectations) satisfied(set string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	open, ok := e.sets[set]
	return !ok || open.creations <= 0 && len(open.deletions) == 0 || time.Since(open.raised) >= expectationTimeout
}

func (e *expectations) expectCreations(set string, count int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sets[set] = &expectation{creations: count, raised: time.Now()}
}

func (e *expectations) expectDeletions(set *ReplicaSet, pods []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	raised := &expectation{key: set.Owner().Key(), deletions: map[string]bool{}, raised: time.Now()}
	for _, pod := range pods {
		raised.deletions[pod] = true
	}
	e.sets[set.UID] = raised
}

// creationsObserved records that count creations were seen, or failed.
func (e *expectations) creationsObserved(set string, count int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if open, ok := e.sets[set]; ok {
		open.creations -= count
	}
}

// deletionObserved records that the deletion of a pod was seen, or failed, and returns the key of
// the set that waited for it, or "". The pod alone decides: if the watch was down while a set
// adopted and deleted it, the pod was never seen with that owner.
func (e *expectations) deletionObserved(pod string) (key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, open := range e.sets {
		if open.deletions[pod] {
			delete(open.deletions, pod)
			return open.key
		}
	}
	return ""
}

// forget drops the expectations of a set that is gone.
func (e *expectations) forget(set string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sets, set)
}
