package deltafifo

// Replace and Resync compare with the known objects. There may be 100,000 of them, far too many
// to read under mu: a watch would stand still meanwhile. So they are read outside, and the only
// thing that can make the reading wrong is written down: a consumer changes the store only for
// keys that it has taken, hence whatever was read is true for every key that nobody took and
// nobody had in flight. beginScan starts the list of the others, f.popped; whoever reads has to
// look at those again, under mu, before anything that it read has an effect.

// beginScan makes the caller the only scanner. endScan must follow.
func (f *DeltaFIFO[T]) beginScan() {
	f.scanning.Lock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.popped = []string{}
	if f.inFlight != nil {
		f.popped = append(f.popped, f.inFlight.key)
	}
}

func (f *DeltaFIFO[T]) endScan() {
	f.mu.Lock()
	f.popped = nil
	f.mu.Unlock()
	f.scanning.Unlock()
}
