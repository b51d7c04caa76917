package bench

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

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
	text, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return 0, 0
	}
	return resident(string(text))
}

func resident(status string) (now, peak uint64) {
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch name {
		case "VmRSS":
			now = kibibytes(fields[0])
		case "VmHWM":
			peak = kibibytes(fields[0])
		}
	}
	return now, peak
}

func kibibytes(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n * 1024
}

// ResetPeakMemory resets the peak of [ResidentMemory]. It first returns Go's free memory to the
// system, since the new peak would include it. If the system cannot reset the peak, ok is false.
func ResetPeakMemory() (ok bool) {
	debug.FreeOSMemory()
	// proc(5): "5" resets the peak resident set size.
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil
}
