package metrics

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"orrery/internal/observe/metrics/exposition"
)

// started is the approximate start time of the process.
var started = time.Now()

// registerProcess adds the metrics of the process and of the Go runtime that dashboards expect.
// Those that need Linux's /proc have no value elsewhere.
func registerProcess(registry *exposition.Registry, before *onGather) {
	p := &process{}
	before.add(p.read)
	gauge := func(d *Definition, value func(*process) float64) {
		registry.Func(d.desc(), func(put func(float64, ...string)) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if v := value(p); v >= 0 {
				put(v)
			}
		})
	}
	gauge(processStart, func(*process) float64 { return float64(started.UnixMilli()) / 1000 })
	gauge(processCPU, func(p *process) float64 { return p.cpu })
	gauge(processResident, func(p *process) float64 { return p.resident })
	gauge(processVirtual, func(p *process) float64 { return p.virtual })
	gauge(processOpenFiles, func(p *process) float64 { return p.openFiles })
	gauge(processMaxFiles, func(p *process) float64 { return p.maxFiles })
	gauge(goGoroutines, func(*process) float64 { return float64(runtime.NumGoroutine()) })
	gauge(goAlloc, func(p *process) float64 { return float64(p.memory.Alloc) })
	gauge(goAllocTotal, func(p *process) float64 { return float64(p.memory.TotalAlloc) })
	gauge(goHeapInuse, func(p *process) float64 { return float64(p.memory.HeapInuse) })
	gauge(goSys, func(p *process) float64 { return float64(p.memory.Sys) })
	gauge(goLastGC, func(p *process) float64 { return float64(p.memory.LastGC) / 1e9 })
	registry.Gauges(goInfo.desc()).With(runtime.Version()).Set(1)
}

// process holds what was last read of this process. An unknown number is negative.
type process struct {
	mu                     sync.Mutex // guards the fields below
	cpu, resident, virtual float64
	openFiles, maxFiles    float64
	memory                 runtime.MemStats
}

func (p *process) read() {
	p.mu.Lock()
	defer p.mu.Unlock()
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
