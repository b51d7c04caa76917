package replicaset

import (
	"sync"
	"time"
)

// expectationsTimeout is how long an event is waited for.
const expectationsTimeout = 5 * time.Minute

// expectations remembers, for each set, which of the controller's own writes the informer has not told of yet. Until it has
// told of all, the store is behind, and counting pods in it gives a number from the past.
//
// An expectation is raised before the request is sent, since the event may overtake the answer. It is lowered by the event,
// or by an answer that says that there is going to be no event.
type expectations struct {
	mu   sync.Mutex
	sets map[string]*expectation // by UID
}

// expectation is what is waited for on behalf of one set.
type expectation struct {
	creations int
	deletions map[string]bool // of pods, by UID: a deletion is told of twice, when it begins and when the pod has gone
	raised    time.Time
}

func newExpectations() *expectations { return &expectations{sets: map[string]*expectation{}} }

// satisfied reports whether the informer has told of everything, or can no longer be expected to.
func (e *expectations) satisfied(set string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	open, ok := e.sets[set]
	return !ok || open.creations <= 0 && len(open.deletions) == 0 || time.Since(open.raised) >= expectationsTimeout
}

func (e *expectations) expectCreations(set string, count int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sets[set] = &expectation{creations: count, raised: time.Now()}
}

func (e *expectations) expectDeletions(set string, pods []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	raised := &expectation{deletions: map[string]bool{}, raised: time.Now()}
	for _, pod := range pods {
		raised.deletions[pod] = true
	}
	e.sets[set] = raised
}

// creationsObserved says that events of new pods have come, or are not going to come.
func (e *expectations) creationsObserved(set string, count int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if open, ok := e.sets[set]; ok {
		open.creations -= count
	}
}

// deletionObserved says that an event of the deletion of a pod has come, or is not going to come.
func (e *expectations) deletionObserved(set, pod string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if open, ok := e.sets[set]; ok {
		delete(open.deletions, pod)
	}
}

// forget drops what is remembered of a set that is gone.
func (e *expectations) forget(set string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sets, set)
}
