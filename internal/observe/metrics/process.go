package metrics

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// started is the approximate start time of the process.
var started = time.Now()

// readProcess puts the metrics of the process and of the Go runtime that dashboards expect. Those
// that need Linux's /proc have no value elsewhere.
func readProcess(put putFunc) {
	var p process
	p.read()
	known := func(d *Definition, value float64) {
		if value >= 0 {
			put(d, value)
		}
	}
	put(processStart, float64(started.UnixMilli())/1000)
	known(processCPU, p.cpu)
	known(processResident, p.resident)
	known(processVirtual, p.virtual)
	known(processOpenFiles, p.openFiles)
	known(processMaxFiles, p.maxFiles)
	put(goGoroutines, float64(runtime.NumGoroutine()))
	put(goAlloc, float64(p.memory.Alloc))
	put(goAllocTotal, float64(p.memory.TotalAlloc))
	put(goHeapInuse, float64(p.memory.HeapInuse))
	put(goSys, float64(p.memory.Sys))
	put(goLastGC, float64(p.memory.LastGC)/1e9)
	put(goInfo, 1, runtime.Version())
}

// process holds what is known of this process. An unknown number is negative.
type process struct {
	cpu, resident, virtual float64
	openFiles, maxFiles    float64
	memory                 runtime.MemStats
}

func (p *process) read() {
	runtime.ReadMemStats(&p.memory)
	p.cpu, p.virtual, p.resident = readStat("/proc/self/stat")
	p.openFiles, p.maxFiles = countFiles("/proc/self/fd"), readLimit("/proc/self/limits")
}

const unknown = -1

// ticksPerSecond is Linux's unit of processor time, on every architecture that Go supports.
const ticksPerSecond = 100

// readStat returns seconds of processor time, and bytes of address space and of resident memory,
// from a file as in proc(5).
func readStat(file string) (cpu, virtual, resident float64) {
	text, err := os.ReadFile(file)
	if err != nil {
		return unknown, unknown, unknown
	}
	// The name of the program is in brackets and may contain anything. The third field follows it.
	const third, utime, stime, vsize, rss = 3, 14, 15, 23, 24
	_, rest, _ := cutLast(string(text), ")")
	fields := strings.Fields(rest)
	if len(fields) <= rss-third {
		return unknown, unknown, unknown
	}
	number := func(field int) float64 {
		n, err := strconv.ParseFloat(fields[field-third], 64)
		if err != nil {
			return unknown
		}
		return n
	}
	return (number(utime) + number(stime)) / ticksPerSecond, number(vsize), number(rss) * float64(os.Getpagesize())
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

func countFiles(directory string) float64 {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return unknown
	}
	return float64(len(entries) - 1) // without the directory itself
}

func readLimit(file string) float64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Max open files"); ok {
			if fields := strings.Fields(rest); len(fields) > 0 {
				if n, err := strconv.ParseFloat(fields[0], 64); err == nil {
					return n
				}
			}
		}
	}
	return unknown
}
