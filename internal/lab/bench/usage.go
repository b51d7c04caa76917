package bench

import (
	"runtime"
	"time"
)

// Usage is what a piece of work cost the whole process.
type Usage struct {
	Elapsed     time.Duration
	CPU         time.Duration // user and system, of all threads
	Allocs      uint64        // objects
	Bytes       uint64        // allocated, whether collected since or not
	Collections uint32        // of garbage that ended meanwhile
}

// Measure does the work and returns what it cost. Whatever else the process does meanwhile is counted as well, so who
// has left garbage collects it first (runtime.GC), or the work pays for it.
//
// Allocations are counted exactly, even a single one: runtime.ReadMemStats collects the counts that the processors keep
// for themselves, which the cheaper runtime/metrics does not. It stops the world for that, but outside of what is timed.
func Measure(work func()) Usage {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, began := cpuTime(), time.Now()
	work()
	elapsed, cpu := time.Since(began), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	return Usage{
		Elapsed:     elapsed,
		CPU:         cpu,
		Allocs:      after.Mallocs - before.Mallocs,
		Bytes:       after.TotalAlloc - before.TotalAlloc,
		Collections: after.NumGC - before.NumGC,
	}
}

// PerOp returns the figures "ns/op", "allocs/op" and "B/op" of n operations; n must be above zero.
func (u Usage) PerOp(n int) map[string]float64 {
	return map[string]float64{
		"ns/op":     float64(u.Elapsed.Nanoseconds()) / float64(n),
		"allocs/op": float64(u.Allocs) / float64(n),
		"B/op":      float64(u.Bytes) / float64(n),
	}
}
