package compare

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// Machine is where figures come from, without its name.
type Machine struct {
	// Processor is its model, Cores how many of its cores this process may use.
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	// Memory in bytes.
	Memory uint64 `json:"memory"`
	// System is the operating system with its version, and the architecture.
	System string `json:"system"`
	// Go is the version that everything was built with.
	Go string `json:"go"`
	// Modules are the versions of the originals that were compared with, by their module paths.
	Modules map[string]string `json:"modules"`
}

// originals are the modules whose versions matter to a reader.
var originals = []string{"k8s.io/client-go", "k8s.io/kubernetes", "sigs.k8s.io/controller-runtime"}

// ThisMachine describes the machine as far as it lets itself be known. The versions of the originals are those that these
// programs were built from.
func ThisMachine(programs ...string) Machine {
	m := Machine{
		Processor: field("/proc/cpuinfo", "model name"),
		Cores:     runtime.NumCPU(),
		System:    runtime.GOOS + "/" + runtime.GOARCH,
		Go:        strings.TrimPrefix(runtime.Version(), "go"),
		Modules:   make(map[string]string),
	}
	if kib, err := strconv.ParseUint(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 10, 64); err == nil {
		m.Memory = kib << 10
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		number, _, _ := strings.Cut(strings.TrimSpace(string(release)), "-")
		m.System += ", Linux " + number
	}
	for _, program := range programs {
		if info, err := buildinfo.ReadFile(program); err == nil {
			m.note(info)
		}
	}
	return m
}

// note takes the versions of the originals over.
func (m *Machine) note(info *debug.BuildInfo) {
	for _, module := range append(info.Deps, &info.Main) {
		if slices.Contains(originals, module.Path) {
			m.Modules[module.Path] = effective(module).Version
		}
	}
}

func effective(module *debug.Module) *debug.Module {
	if module.Replace != nil {
		return module.Replace
	}
	return module
}

// field returns the value of the first line "name: value" of a file, or nothing.
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

// Busy returns a warning if others are at work on the machine: ratios survive that to some degree, figures do not.
func Busy() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil || load < 0.5 {
		return ""
	}
	return fmt.Sprintf("Others are at work on this machine (load %.1f on %d cores): expect noise.", load, runtime.NumCPU())
}
