package bench

import (
	"runtime/metrics"
	"sync"
	"time"
)

// sampleInterval separates two samples. A fast program allocates a few megabytes in between.
const sampleInterval = 5 * time.Millisecond

// MemoryWatch samples the heap every few milliseconds and keeps the maximum, without stopping the
// world.
type MemoryWatch struct {
	stop    func() // closes the channel that ends the goroutine, once
	stopped sync.WaitGroup

	// Owned by the goroutine until it has stopped.
	sample [1]metrics.Sample
	peak   uint64
}

// WatchMemory starts sampling. Stop ends it.
func WatchMemory() *MemoryWatch {
	done := make(chan struct{})
	w := &MemoryWatch{stop: sync.OnceFunc(func() { close(done) })}
	w.sample[0].Name = "/memory/classes/heap/objects:bytes"
	w.take() // one sample even if Stop follows immediately
	w.stopped.Go(func() { w.run(done) })
	return w
}

func (w *MemoryWatch) run(done <-chan struct{}) {
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.take()
		case <-done:
			w.take()
			return
		}
	}
}

func (w *MemoryWatch) take() {
	metrics.Read(w.sample[:])
	w.peak = max(w.peak, w.sample[0].Value.Uint64())
}

// Stop returns the largest sampled heap in bytes, including garbage that was not collected yet. It
// may be called more than once.
func (w *MemoryWatch) Stop() (peak uint64) {
	w.stop()
	w.stopped.Wait()
	return w.peak
}
