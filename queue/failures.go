package queue

import "sync"

// failures counts failures by key.
type failures[K comparable] struct {
	mu     sync.Mutex
	counts table[K, int] // guarded by mu; no zeros
}

func newFailures[K comparable]() failures[K] {
	return failures[K]{counts: newTable[K, int]()}
}

// add counts one more failure and returns how many there were before.
func (f *failures[K]) add(key K) (before int) {
	hash := f.counts.hash(key)
	f.mu.Lock()
	_, count := f.counts.obtain(key, hash)
	before = count.value
	count.value++
	f.mu.Unlock()
	return before
}

// Forget clears the failures of key.
func (f *failures[K]) Forget(key K) {
	hash := f.counts.hash(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	if place, _, count := f.counts.find(key, hash); count != nil {
		f.counts.remove(place)
	}
}

// NumRequeues is the number of failures of key since the last Forget.
func (f *failures[K]) NumRequeues(key K) int {
	hash := f.counts.hash(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, _, count := f.counts.find(key, hash); count != nil {
		return count.value
	}
	return 0
}
