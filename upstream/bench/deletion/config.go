package deletion

import (
	"io"
	"path/filepath"

	"orrery/upstream/bench/compare"
	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

// Config names the programs. The zero value takes those that the Makefile builds.
type Config struct {
	// Orrery is our side's program. Default: bin/orrery in the working directory or the nearest
	// above it.
	Orrery string
	// ControlPlane is the program with etcd, kube-apiserver and kube-controller-manager. Default:
	// bin/controlplane, found in the same way.
	ControlPlane string
	// Dir receives the control plane's logs and data. Default: a temporary directory that Stop
	// removes.
	Dir string
	// Log receives a line for each step. Default: nowhere.
	Log io.Writer
}

func (c Config) withDefaults() (Config, error) {
	if c.Log == nil {
		c.Log = io.Discard
	}
	var err error
	if c.Orrery == "" {
		if c.Orrery, err = controlplane.FindUp(filepath.Join("bin", "orrery")); err != nil {
			return c, err
		}
	}
	if c.ControlPlane == "" {
		if c.ControlPlane, err = controlplane.FindUp(filepath.Join("bin", "controlplane")); err != nil {
			return c, err
		}
	}
	return c, nil
}

// subject returns a side's namespace controller and its program.
func (c Config) subject(side compare.Side) (subject e2e.Subject, path string, known bool) {
	switch side {
	case compare.Ours:
		return e2e.Orrery(), c.Orrery, true
	case compare.Textbook:
		textbook := e2e.Orrery()
		textbook.Name += "-textbook"
		textbook.Args = func(kubeconfig string) []string {
			return append(e2e.Orrery().Args(kubeconfig), "--gears=textbook")
		}
		return textbook, c.Orrery, true
	case compare.Theirs:
		return e2e.BuiltIn(), c.ControlPlane, true
	}
	return e2e.Subject{}, "", false
}
