package bench

import (
	"runtime"
	"time"
)

// Usage is the cost of a piece of work for the whole process.
type Usage struct {
	Elapsed     time.Duration
	CPU         time.Duration // user and system, of all threads
	Allocs      uint64        // objects
	Bytes       uint64        // allocated, including garbage
	Collections uint32        // garbage collections that ended
}

// Measure runs work and returns its cost. Everything else in the process counts too, so call
// runtime.GC first if there is garbage to collect.
//
// Allocations are counted exactly: unlike runtime/metrics, runtime.ReadMemStats flushes the
// per-processor counts. It stops the world, but outside the measured time.
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

// PerOp returns the figures "ns/op", "allocs/op" and "B/op" for n operations; n must be positive.
func (u Usage) PerOp(n int) map[string]float64 {
	return map[string]float64{
		"ns/op":     float64(u.Elapsed.Nanoseconds()) / float64(n),
		"allocs/op": float64(u.Allocs) / float64(n),
		"B/op":      float64(u.Bytes) / float64(n),
	}
}
