package queue

import "sync"

// failures counts failures by key.
type failures[K comparable] struct {
	mu     sync.Mutex
	counts map[K]int // guarded by mu; no zeros
}

// add counts one more failure and returns how many there were before.
func (f *failures[K]) add(key K) (before int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = make(map[K]int)
	}
	f.counts[key]++ // finds the place and fills it in one go
	return f.counts[key] - 1
}

// Forget clears the failures of key.
func (f *failures[K]) Forget(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.counts, key)
}

// NumRequeues is the number of failures of key since the last Forget.
func (f *failures[K]) NumRequeues(key K) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[key]
}
