package bench

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/app/program"
)

// Machine describes where a benchmark ran, without the machine's name. Figures from different
// machines must not be compared.
type Machine struct {
	// Processor is the model, Cores the number of cores that this process may use, and GOMAXPROCS
	// the number of threads that run Go code at the same time.
	Processor  string `json:"processor"`
	Cores      int    `json:"cores"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	// Memory in bytes.
	Memory uint64 `json:"memory"`
	// Platform is the operating system and the architecture, Kernel the version of the former.
	Platform string `json:"platform"`
	Kernel   string `json:"kernel"`
	// Go is the version that built the program, Commit that of the sources, if known.
	Go     string `json:"go"`
	Commit string `json:"commit,omitempty"`
	// Load is the average number of runnable threads of the last minute; 0 if unknown.
	Load float64 `json:"load"`
}

// ThisMachine describes the machine as far as the system reveals it. Call it before the
// measurement, which is load itself.
func ThisMachine() Machine {
	built := program.CurrentVersion()
	m := Machine{
		Processor:  field("/proc/cpuinfo", "model name"),
		Cores:      runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		Platform:   built.Platform,
		Go:         strings.TrimPrefix(built.Go, "go"),
		Commit:     built.Commit,
	}
	if built.Modified {
		m.Commit += " with changes"
	}
	if kib, err := strconv.ParseUint(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 10,
		64); err == nil {
		m.Memory = kib << 10
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		number, _, _ := strings.Cut(strings.TrimSpace(string(release)), "-")
		m.Kernel = "Linux " + number
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		m.Load, _ = strconv.ParseFloat(first, 64)
	}
	return m
}

// System returns the platform and the kernel.
func (m Machine) System() string { return join(m.Platform, m.Kernel) }

// String describes the machine: "AMD EPYC, 2 cores, linux/amd64, Linux 6.18, Go 1.26.8, load 0.1".
func (m Machine) String() string {
	commit := m.Commit
	if hash, changes, _ := strings.Cut(m.Commit, " "); hash != "" {
		commit = strings.TrimSpace("commit " + hash[:min(len(hash), 12)] + " " + changes)
	}
	return join(m.Processor, fmt.Sprintf("%d cores", m.Cores), fmt.Sprintf("GOMAXPROCS %d", m.GOMAXPROCS),
		m.System(), "Go "+m.Go, commit, fmt.Sprintf("load %.1f", m.Load))
}

// join joins what is known.
func join(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), ", ")
}

// Busy returns a warning if the machine has other work: ratios tolerate some of it, figures do not.
func (m Machine) Busy() string {
	if m.Load < 0.5 {
		return ""
	}
	return fmt.Sprintf("Others are at work on this machine (load %.1f on %d cores): expect noise.", m.Load, m.Cores)
}

// field returns the value of the first line "name: value" of a file, or "".
func field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
