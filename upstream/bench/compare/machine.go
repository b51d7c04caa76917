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

// Machine describes the machine that measured, without its name.
type Machine struct {
	// Processor is the model, Cores the number of cores that this process may use.
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	// Memory in bytes.
	Memory uint64 `json:"memory"`
	// System is the operating system with its version, and the architecture.
	System string `json:"system"`
	// Go is the version that built the programs.
	Go string `json:"go"`
	// Modules holds the versions of the originals by module path.
	Modules map[string]string `json:"modules"`
}

// originals lists the modules whose versions are shown.
var originals = []string{"k8s.io/client-go", "k8s.io/kubernetes", "sigs.k8s.io/controller-runtime"}

// ThisMachine describes the machine as far as the system reveals it. The originals' versions are
// those in the programs' build information.
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

// note adds the versions of the originals.
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

// Busy returns a warning if the machine has other work: ratios tolerate some of it, figures do not.
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
