package bench

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// LiveHeap returns the bytes of the objects that are reachable, after collecting the others.
func LiveHeap() uint64 {
	runtime.GC()
	runtime.GC() // the second frees what finalizers and pools had held on to
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// ResidentMemory returns the bytes of memory that the process has, and the most that it had since it began or since
// [ResetPeakMemory]: VmRSS and VmHWM of /proc. Both are 0 where there is no /proc.
func ResidentMemory() (now, peak uint64) { return readResident("self") }

// ResidentMemoryOf is [ResidentMemory] of another process. Both are 0 if it has ended, too.
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

// ResetPeakMemory makes the peak of [ResidentMemory] begin anew. What Go keeps of the memory of earlier work goes back
// to the system first, or the peak would begin there. ok is false where the system cannot do that, and the peak is still
// that of the whole life of the process.
func ResetPeakMemory() (ok bool) {
	debug.FreeOSMemory()
	// proc(5): "5" resets the peak of the resident set.
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil
}
