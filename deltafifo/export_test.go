package deltafifo

// Check returns an error if an invariant of the queue does not hold.
func (f *DeltaFIFO[T]) Check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checkLocked()
}

// Reading reports whether taken keys are written down because known objects are being read.
func (f *DeltaFIFO[T]) Reading() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.popped != nil
}
