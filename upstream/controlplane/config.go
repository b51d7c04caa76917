package controlplane

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Controllers of kube-controller-manager that this package refers to.
const (
	namespaceController       = "namespace-controller"
	serviceAccountController  = "serviceaccount-controller"
	rootCAPublisherController = "root-ca-certificate-publisher-controller"
)

// PodDeletionDelay is kwok's annotation for how long a deleted pod on a fake node takes to vanish,
// such as "3s".
const PodDeletionDelay = "pod-delete.stage.kwok.x-k8s.io/delay"

// DefaultControllers returns the controllers that run unless [Config.Controllers] is set: those
// that fill a namespace (default service account, tokens, CA bundle), the garbage collector, and
// the aggregation of ClusterRoles, without which "admin", "edit" and "view" grant nothing. The
// namespace controller is not among them; see [Config.NamespaceController].
func DefaultControllers() []string {
	return []string{
		serviceAccountController,
		"serviceaccount-token-controller",
		rootCAPublisherController,
		"garbage-collector-controller",
		"clusterrole-aggregation-controller",
	}
}

// Config configures a control plane. The zero value starts etcd, kube-apiserver and
// kube-controller-manager without its namespace controller and without nodes.
type Config struct {
	// Binary is the program built from cmd/controlplane. Default: bin/controlplane in the working
	// directory or the nearest directory above it.
	Binary string

	// NamespaceController makes kube-controller-manager run its namespace controller and hold its
	// Lease, by which "orrery run" recognises it. By default deleted namespaces stay until another
	// controller empties and finalizes them.
	NamespaceController bool

	// Controllers replaces DefaultControllers in kube-controller-manager's --controllers; "*"
	// stands for the defaults. NamespaceController alone adds or excludes the namespace controller.
	Controllers []string

	// FakeNodes is the number of kwok's fake nodes. Pods run on them once scheduled, and vanish
	// when deleted or after the delay in PodDeletionDelay. With 0 neither kwok nor kube-scheduler
	// runs, and pods stay pending.
	FakeNodes int

	// DisableWatchCache makes kube-apiserver answer every list and watch from etcd, so that a
	// compaction takes effect at once (status 410). Streaming lists still work unless
	// --feature-gates=WatchList=false is given.
	DisableWatchCache bool

	// AuditPolicy is an audit policy in YAML. With one, kube-apiserver writes AuditLog. Default: no
	// auditing.
	AuditPolicy string

	// APIServerArgs and ControllerManagerArgs follow each component's own arguments; of a flag that
	// is given twice the last one wins.
	APIServerArgs, ControllerManagerArgs []string

	// Log receives a line for each step and the end of a dead component's log. Default: nowhere.
	Log io.Writer
}

// complete returns the configuration with defaults that need no resources, or an error.
func (c Config) complete() (Config, error) {
	if c.FakeNodes < 0 {
		return c, fmt.Errorf("control plane: %d fake nodes", c.FakeNodes)
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
	binary, err := findBinary(c.Binary)
	if err != nil {
		return c, err
	}
	c.Binary = binary
	return c, nil
}

// controllers returns the value of --controllers. kube-controller-manager goes by the first entry
// that names a controller, so entries for the namespace controller are replaced.
func (c Config) controllers() []string {
	chosen := c.Controllers
	if chosen == nil {
		chosen = DefaultControllers()
	}
	chosen = slices.DeleteFunc(slices.Clone(chosen), func(name string) bool {
		return strings.TrimPrefix(name, "-") == namespaceController
	})
	if c.NamespaceController {
		return append(chosen, namespaceController)
	}
	return append(chosen, "-"+namespaceController)
}

// runs reports whether kube-controller-manager will run a controller of its defaults.
func (c Config) runs(controller string) bool {
	for _, name := range c.controllers() {
		switch name {
		case controller:
			return true
		case "-" + controller:
			return false
		}
	}
	return slices.Contains(c.controllers(), "*")
}

// findBinary returns the absolute path of the control plane's binary.
func findBinary(path string) (string, error) {
	if path == "" {
		return FindUp(filepath.Join("bin", "controlplane"))
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("control plane binary: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("control plane binary: %w", err)
	}
	return path, nil
}

// FindUp looks for a file in the working directory and each directory above it, and returns its
// absolute path. Tests, which run in their package's directory, use it to find the Makefile's
// output.
func FindUp(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	for {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("find %s: %w", name, err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "",
				fmt.Errorf("%s is not in this directory or any above; \"make build\" and \"make -C upstream\" in "+
					"the repository's root build what belongs there", name)
		}
		dir = parent
	}
}
