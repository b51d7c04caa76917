package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"reflect"

	"orrery/upstream/apiserver/served"
	"orrery/upstream/controlplane"
)

// Server is an API server without a namespace controller. Beside it run the controllers that fill
// new namespaces, a garbage collector and, if wanted, nodes. [controlplane.ControlPlane] and
// [served.Server] implement it.
type Server interface {
	// Kubeconfig returns the path of the administrator's kubeconfig file.
	Kubeconfig() string
	// KubeconfigFor writes a kubeconfig file for a user in the given groups and returns its path.
	KubeconfigFor(user string, groups ...string) (string, error)
	// LogFile returns the path of the output of a program of the server or beside it.
	LogFile(program string) string
	// Failed is closed when a process of the server ends unexpectedly.
	Failed() <-chan struct{}
	// Err returns the reason why Failed is closed, or nil.
	Err() error
	// Stop stops the server and returns Err.
	Stop() error
}

// Platform is a kind of server.
type Platform struct {
	// Name is the platform's name in tests.
	Name string
	// Start starts a server. The context bounds the start only.
	Start func(context.Context, controlplane.Config) (Server, error)
}

// Kubernetes returns the genuine server: etcd, kube-apiserver, kube-controller-manager and, if
// nodes are wanted, kwok.
func Kubernetes() Platform {
	return Platform{
		Name: "kubernetes",
		Start: func(ctx context.Context, config controlplane.Config) (Server, error) {
			if config.NamespaceController {
				return nil, errors.New("the subject would not be the only namespace controller")
			}
			cp, err := controlplane.Start(ctx, config)
			if err != nil {
				return nil, err // not cp: an interface that holds a nil pointer is not nil
			}
			return cp, nil
		},
	}
}

// InMemory returns "lab serve", with its own nodes and garbage collector, and
// kube-controller-manager to fill new namespaces. It uses Controllers, FakeNodes and Log of the
// configuration and always has a node.
func InMemory() Platform {
	return Platform{
		Name: "in-memory",
		Start: func(ctx context.Context, config controlplane.Config) (Server, error) {
			settings := config
			settings.Controllers, settings.FakeNodes, settings.Log = nil, 0, nil
			if !reflect.DeepEqual(settings, controlplane.Config{}) {
				return nil, fmt.Errorf("the server in memory has no such settings: %+v", settings)
			}
			controllers := config.Controllers
			if controllers == nil {
				controllers = served.NamespaceControllers()
			}
			server, err := served.Start(ctx, served.Config{Args: servedLogArgs, Controllers: controllers, Log: config.Log})
			if err != nil {
				return nil, err
			}
			return server, nil
		},
	}
}

// servedLogArgs makes the server in memory log requests, as the audit log does.
var servedLogArgs = []string{"-v2", "--log-format=json"}

// Platforms returns every server on which the tests run.
func Platforms() []Platform { return []Platform{Kubernetes(), InMemory()} }

// RunOfficialSpecs runs Kubernetes' own specs for namespaces, unmodified, against a cluster with a
// node (see command conformance) and writes their report to out. It returns nil only when all of
// them have run and passed. The arguments go to the command: --of=workloads selects the specs for
// ReplicaSets and Deployments, --of=garbage those for the garbage collector.
func RunOfficialSpecs(ctx context.Context, kubeconfig string, out io.Writer, args ...string) error {
	path, err := controlplane.FindUp(filepath.Join("bin", "conformance"))
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, path, append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	command.Stdout = out
	command.Stderr = out
	if err := command.Run(); err != nil {
		return fmt.Errorf("official specs: %w", err)
	}
	return nil
}
