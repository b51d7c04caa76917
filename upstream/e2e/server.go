package e2e

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"orrery/upstream/apiserver/served"
	"orrery/upstream/controlplane"
)

// Server is an API server without a namespace controller, with what every namespace relies on running beside it: the
// controllers that fill new namespaces, a garbage collector and, if wanted, nodes. [controlplane.ControlPlane] and
// [served.Server] are such.
type Server interface {
	// Kubeconfig is the path of the administrator's kubeconfig file.
	Kubeconfig() string
	// KubeconfigFor writes a kubeconfig file for a user in the given groups and returns its path.
	KubeconfigFor(user string, groups ...string) (string, error)
	// LogFile is the path of the file with what a program has printed: one of the server's, or one that runs beside it.
	LogFile(program string) string
	// Failed is closed when a process of the server ends without having been asked to.
	Failed() <-chan struct{}
	// Err is what closed Failed, or nil.
	Err() error
	// Stop ends the server and returns what Err returns.
	Stop() error
}

// Platform is a kind of server.
type Platform struct {
	// Name is how tests call it.
	Name string
	// Start starts a server. The context bounds the start only.
	Start func(context.Context, controlplane.Config) (Server, error)
}

// Kubernetes is the genuine server: etcd, kube-apiserver and kube-controller-manager, and kwok if there are to be nodes.
func Kubernetes() Platform {
	return Platform{
		Name: "kubernetes",
		Start: func(ctx context.Context, config controlplane.Config) (Server, error) {
			if config.NamespaceController {
				return nil, errors.New("the subject would not be the only namespace controller")
			}
			cp, err := controlplane.Start(ctx, config)
			if err != nil {
				return nil, err // not cp: an interface with nothing in it is not nil
			}
			return cp, nil
		},
	}
}

// InMemory is this project's server, "lab serve", with its own nodes and garbage collector, and kube-controller-manager
// for what fills new namespaces. Of the configuration it knows Controllers, FakeNodes and Log, and it always has a node.
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

// servedLogArgs have the server in memory log what is asked of it, as the audit log does.
var servedLogArgs = []string{"-v2", "--log-format=json"}

// Platforms are all servers that the same tests run on.
func Platforms() []Platform { return []Platform{Kubernetes(), InMemory()} }
