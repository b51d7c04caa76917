package bench

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Usage is the cost of a piece of work for the whole process.
type Usage struct {
	Elapsed time.Duration
	CPU     time.Duration // user and system, of all threads
	Allocs  uint64        // objects
	Bytes   uint64        // allocated, including garbage
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
		Elapsed: elapsed,
		CPU:     cpu,
		Allocs:  after.Mallocs - before.Mallocs,
		Bytes:   after.TotalAlloc - before.TotalAlloc,
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

// LiveHeap collects garbage and returns the bytes of the reachable objects.
func LiveHeap() uint64 {
	runtime.GC()
	runtime.GC() // the second frees what finalizers and pools held
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// ResidentMemory returns the resident memory of the process in bytes, and its peak since the start
// or the last [ResetPeakMemory] (VmRSS and VmHWM in /proc). Both are 0 without /proc.
func ResidentMemory() (now, peak uint64) { return readResident("self") }

// ResidentMemoryOf is [ResidentMemory] for another process. Both are 0 if it has ended.
func ResidentMemoryOf(pid int) (now, peak uint64) { return readResident(strconv.Itoa(pid)) }

func readResident(process string) (now, peak uint64) {
	text, _ := os.ReadFile("/proc/" + process + "/status") // without /proc it is empty
	return resident(string(text))
}

func resident(status string) (now, peak uint64) {
	for line := range strings.Lines(status) {
		var kibibytes uint64
		name, value, _ := strings.Cut(line, ":")
		_, _ = fmt.Sscan(value, &kibibytes) // most values are no numbers
		switch name {
		case "VmRSS":
			now = kibibytes * 1024
		case "VmHWM":
			peak = kibibytes * 1024
		}
	}
	return now, peak
}

// ResetPeakMemory resets the peak of [ResidentMemory]. It first returns Go's free memory to the
// system, since the new peak would include it. If the system cannot reset the peak, ok is false.
func ResetPeakMemory() (ok bool) {
	debug.FreeOSMemory()
	// proc(5): "5" resets the peak resident set size.
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil
}
