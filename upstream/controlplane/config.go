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

// BinaryVariable is the environment variable that names the control plane's binary when [Config] does not.
const BinaryVariable = "ORRERY_CONTROLPLANE"

// The names of the controllers of kube-controller-manager that this package knows by name.
const (
	namespaceController       = "namespace-controller"
	serviceAccountController  = "serviceaccount-controller"
	rootCAPublisherController = "root-ca-certificate-publisher-controller"
)

// PodDeletionDelay is an annotation of a pod on a fake node: how long it takes to vanish after it was deleted, such as
// "3s", in place of a container that uses up part of its grace period. The annotation is kwok's own.
const PodDeletionDelay = "pod-delete.stage.kwok.x-k8s.io/delay"

// DefaultControllers are the controllers of kube-controller-manager that run unless [Config.Controllers] says
// otherwise: what a namespace needs to be usable (its default service account, tokens, the CA bundle), the garbage
// collector, and the aggregation of ClusterRoles, without which "admin", "edit" and "view" grant nothing.
//
// The namespace controller is not among them; see [Config.NamespaceController].
func DefaultControllers() []string {
	return []string{
		serviceAccountController,
		"serviceaccount-token-controller",
		rootCAPublisherController,
		"garbage-collector-controller",
		"clusterrole-aggregation-controller",
	}
}

// Config says what control plane to start. The zero value is useful: etcd, kube-apiserver and kube-controller-manager
// without its namespace controller and without nodes.
type Config struct {
	// Binary is the program built from cmd/controlplane. Default: $ORRERY_CONTROLPLANE, else bin/controlplane in the
	// working directory or the nearest directory above it that has one.
	Binary string

	// Dir receives certificates, kubeconfig files, logs and etcd's data; it is created when missing, must be empty,
	// and is kept by Stop. Default: a temporary directory that Stop removes.
	Dir string

	// NamespaceController has kube-controller-manager run its own namespace controller, and hold its Lease, by which
	// "orrery run" knows it. Default: it does not, and namespaces that are deleted stay until some other controller empties
	// and finalizes them.
	NamespaceController bool

	// Controllers replaces DefaultControllers in kube-controller-manager's --controllers; "*" stands for all that are
	// on by default. The namespace controller is added or excluded by NamespaceController alone.
	Controllers []string

	// FakeNodes is the number of nodes that kwok pretends to run. Pods run on them as soon as they are scheduled, and
	// vanish as soon as they are deleted or after the delay in their annotation PodDeletionDelay. With 0 neither kwok
	// nor kube-scheduler is started, and pods stay pending.
	FakeNodes int

	// DisableWatchCache has kube-apiserver answer every list and watch from etcd, so that a compaction is felt at once
	// (status 410). Streaming lists are served all the same; --feature-gates=WatchList=false has them refused.
	DisableWatchCache bool

	// AuditPolicy is an audit policy in YAML. With one, kube-apiserver writes AuditLog. Default: no auditing.
	AuditPolicy string

	// EtcdArgs, APIServerArgs, ControllerManagerArgs and SchedulerArgs are added at the end of each component's
	// arguments; where a flag may be given once only, the last one wins.
	EtcdArgs, APIServerArgs, ControllerManagerArgs, SchedulerArgs []string

	// Log receives a line for each step and the end of the log of a component that dies. Default: nowhere.
	Log io.Writer
}

// complete checks the configuration and fills in the defaults that need no resources.
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

// controllers is the value of --controllers. kube-controller-manager goes by the first entry that names a controller,
// so entries for the namespace controller are dropped before the decisive one is added.
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

// runs tells whether kube-controller-manager is going to run a controller that it runs by default.
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
		path = os.Getenv(BinaryVariable)
	}
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

// FindUp looks for a file in the working directory and then in each directory above it, and returns its absolute path.
// Tests run in the directory of their package and use it to find what the Makefile has built.
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
			return "", fmt.Errorf("%s is neither here nor in any directory above; \"make build\" and \"make -C upstream\" in the repository's root build what belongs there", name)
		}
		dir = parent
	}
}
