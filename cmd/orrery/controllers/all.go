// Package controllers lists the controllers: for each its name, its rights, and its initializer.
// This is the article's NewControllerInitializers. An initializer builds a controller from the
// shared informers, the client and the hooks of its [manager.ControllerContext]. Only
// namespace-controller is on by default. The others are examples that kube-controller-manager also
// has, so they run only if they are named.
package controllers

import (
	"time"

	"orrery/controller/events"
	"orrery/controller/gears"
	"orrery/controller/manager"
	"orrery/internal/app/cluster"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// Options configure the namespace controller, see nsctl.Config and nsctl.DeleterConfig.
type Options struct {
	Selection       nsctl.Selection
	Workers         int
	SyncPeriod      time.Duration
	GracePeriod     time.Duration
	TypeConcurrency int
}

// Descriptors returns all controllers, sorted by name.
func Descriptors(options Options) []manager.Descriptor {
	return []manager.Descriptor{
		deploymentController(),
		garbageCollector(),
		namespaceController(options),
		replicaSetController(),
	}
}

// NamespaceController is the name of the namespace controller.
const NamespaceController = "namespace-controller"

// The multiples of the client's limits that kube-controller-manager gives its namespace controller:
// emptying namespaces takes many small requests.
const (
	namespaceQPSFactor   = 20
	namespaceBurstFactor = 100
)

func namespaceController(options Options) manager.Descriptor {
	return manager.Descriptor{
		Name: NamespaceController, Alias: "namespace",
		About:  "deletes the content of namespaces that are being deleted, and finalizes them",
		DryRun: true, BuiltIn: true,
		Needs:     []api.GroupVersionResource{api.NamespacesResource},
		Rights:    cluster.ControllerRights,
		QPSFactor: namespaceQPSFactor, BurstFactor: namespaceBurstFactor,
		New: func(c manager.ControllerContext) (manager.Controller, error) {
			return startNamespaceController(c, options)
		},
	}
}

func startNamespaceController(c manager.ControllerContext, options Options) (manager.Controller, error) {
	passDone := func(namespace string, _ time.Duration, _ int, err error) { c.PassDone(namespace, err) }
	traces := []*nsctl.Trace{
		c.Logger.Namespaces(), events.Deletions(c.Recorder()), {PassDone: passDone},
	}
	if c.Metrics != nil {
		traces = append(traces, c.Metrics.Namespaces())
	}
	// the recorder last: it reads the logger's names of passes
	trace := nsctl.JoinTraces(append(traces, c.Recording.Namespaces())...)
	head := func(namespace *api.Namespace) *api.ObjectMeta { return &namespace.ObjectMeta }
	namespaces := manager.InformerFor(c, api.NamespacesResource, head)
	pool := c.WorkerConfig("namespace")
	pool.Workers, pool.Trace = options.Workers, nil // trace has the passes
	controller, err := nsctl.NewController(nsctl.Config{
		Informer: namespaces,
		Deleter: gears.Choose(c.Gears, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)(nsctl.DeleterConfig{
			Namespaces: restclient.Typed[*api.Namespace](c.Client, api.NamespacesResource, ""),
			Content:    nsctl.NewContentClient(c.Client),
			Discovery: discovery.NewCached(discovery.NewWithConfig(c.Client, discovery.Config{
				OnlyWhenReady: true, // a server that is starting does not list all types yet
			})),
			Concurrency: options.TypeConcurrency,
			DryRun:      c.DryRun,
			Trace:       trace,
		}),
		Selection:    options.Selection,
		ResyncPeriod: options.SyncPeriod,
		GracePeriod:  options.GracePeriod,
		Pool:         pool,
		Trace:        trace,
	})
	if err != nil {
		return nil, err
	}
	if c.Metrics != nil {
		c.Metrics.Deleting(controller.Deleting, controller.OldestDeletion)
		c.Metrics.PassedOver(controller.PassedOver)
	}
	if !options.Selection.All() {
		c.Logger.Info().Str("controller", c.Name).Stringer("namespaces", options.Selection).
			Msg("other namespaces are left alone")
	}
	c.Show("controller/"+c.Name, func() any { return controller.Snapshot() })
	return controller, nil
}
