package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Options configure drivers. Each has a default.
type Options struct {
	// StateDir is where the driver process remembers its processes, by default orrery/servers in
	// $XDG_STATE_HOME, or in .local/state at home; and where the driver memory keeps its servers,
	// by default nowhere.
	StateDir string
	// Command is what the driver process runs as a server. Default: sleep infinity.
	Command []string
}

// Names returns the names that New knows.
func Names() []string { return []string{"memory", "process"} }

// New returns the driver with a name.
func New(name string, options Options) (Interface, error) {
	switch name {
	case "memory":
		if options.StateDir == "" {
			return &Memory{}, nil
		}
		return NewMemory(options.StateDir)
	case "process":
		dir, err := stateDir(options.StateDir)
		if err != nil {
			return nil, err
		}
		command := options.Command
		if len(command) == 0 {
			command = []string{"sleep", "infinity"}
		}
		return NewProcess(dir, command)
	}
	return nil, fmt.Errorf("there is no driver %q; the drivers are %s", name, strings.Join(Names(), ", "))
}

func stateDir(chosen string) (string, error) {
	if chosen == "" {
		base := os.Getenv("XDG_STATE_HOME")
		if base == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("the driver process needs a state directory: %w", err)
			}
			base = filepath.Join(home, ".local", "state")
		}
		chosen = filepath.Join(base, "orrery", "servers")
	}
	return filepath.Abs(chosen)
}
