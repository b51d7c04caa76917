package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// LiveHeap returns the bytes of the objects that are reachable, after collecting the others.
func LiveHeap() uint64 {
	runtime.GC()
	runtime.GC() // the second frees what finalizers and pools had held on to
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// ResidentMemory returns the bytes of memory that the process has, and the most that it ever had: VmRSS and VmHWM of
// /proc. Both are 0 where there is no /proc.
func ResidentMemory() (now, peak uint64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		kib, _ := strconv.ParseUint(fields[0], 10, 64)
		switch name {
		case "VmRSS":
			now = kib * 1024
		case "VmHWM":
			peak = kib * 1024
		}
	}
	return now, peak
}

// MemoryWatch looks at the heap every few milliseconds and remembers the most that it saw.
type MemoryWatch struct {
	stop    chan struct{}
	stopped sync.WaitGroup
	peak    uint64 // of the goroutine, until stopped
}

// WatchMemory starts to look. Stop ends it.
func WatchMemory() *MemoryWatch {
	w := &MemoryWatch{stop: make(chan struct{})}
	w.stopped.Go(w.run)
	return w
}

func (w *MemoryWatch) run() {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		w.peak = max(w.peak, heapInUse())
		select {
		case <-ticker.C:
		case <-w.stop:
			w.peak = max(w.peak, heapInUse())
			return
		}
	}
}

// Stop returns the most bytes of heap that were in use at any look.
func (w *MemoryWatch) Stop() (peak uint64) {
	close(w.stop)
	w.stopped.Wait()
	return w.peak
}
