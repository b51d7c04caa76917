package indexer

// Check verifies the invariants of the store, for tests outside the package.
func (x *Indexer[T]) Check() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.checkLocked()
}
