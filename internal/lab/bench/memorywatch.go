package bench

import (
	"runtime/metrics"
	"sync"
	"time"
)

// glance is how often a watch looks. Between two of them a fast program allocates a few megabytes.
const glance = 5 * time.Millisecond

// MemoryWatch looks at the heap every few milliseconds and remembers the most that it saw, without stopping anybody.
type MemoryWatch struct {
	stop    func() // closes the channel that ends the goroutine; once
	stopped sync.WaitGroup

	// Of the goroutine; of everybody when it has stopped.
	sample [1]metrics.Sample
	peak   uint64
}

// WatchMemory starts to look. Stop ends it.
func WatchMemory() *MemoryWatch {
	done := make(chan struct{})
	w := &MemoryWatch{stop: sync.OnceFunc(func() { close(done) })}
	w.sample[0].Name = "/memory/classes/heap/objects:bytes"
	w.look() // what is there now counts even if Stop comes at once
	w.stopped.Go(func() { w.run(done) })
	return w
}

func (w *MemoryWatch) run(done <-chan struct{}) {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.look()
		case <-done:
			w.look()
			return
		}
	}
}

func (w *MemoryWatch) look() {
	metrics.Read(w.sample[:])
	w.peak = max(w.peak, w.sample[0].Value.Uint64())
}

// Stop returns the most bytes of heap that held objects at any look, dead ones that were not collected yet included. It
// may be called more than once.
func (w *MemoryWatch) Stop() (peak uint64) {
	w.stop()
	w.stopped.Wait()
	return w.peak
}
