package deltafifo

// Check returns an error if an invariant of the queue does not hold.
func (f *DeltaFIFO[T]) Check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checkLocked()
}
