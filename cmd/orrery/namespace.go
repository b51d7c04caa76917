package main

import (
	"context"
	"time"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/controllers"
	"orrery/internal/gears"
	"orrery/internal/observe/logs"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// The name under which --controllers knows the namespace controller, and its short form.
const (
	namespaceControllerName  = "namespace-controller"
	namespaceControllerAlias = "namespace"
)

// startNamespaceController returns the initialiser of the namespace controller. worked is called after each pass.
func startNamespaceController(options *runOptions, logger *logs.Logger, observer *observer, recording *recording, worked func()) controllers.Initializer {
	return func(_ context.Context, shared controllers.Context) (controllers.Run, error) {
		if !shared.Available[api.NamespacesResource] {
			return nil, controllers.ErrResourceMissing
		}
		namespaces := restclient.Typed[*api.Namespace](shared.Client, api.NamespacesResource, "")
		namespaceInformer := informer.InformerFor(shared.Informers, api.NamespacesResource.Resource,
			func(time.Duration) *informer.SharedIndexInformer[*api.Namespace] {
				return informer.NewSharedIndexInformer(namespaces, informer.Config[*api.Namespace]{
					Name:         "namespaces",
					Gears:        gears.Informer[*api.Namespace](options.gears),
					ResyncPeriod: options.syncPeriod,
					// The server keeps the managed fields of an object that is written back without any.
					Transform:  informer.StripManagedFields(func(ns *api.Namespace) *api.ObjectMeta { return &ns.ObjectMeta }),
					Reflector:  reflector.Config[*api.Namespace]{Trace: reflector.JoinTraces(logger.Reflector("namespaces"), observer.reflector("namespaces"))},
					Trace:      logger.Informer(),
					QueueTrace: observer.fifo(),
				})
			})
		observer.show("gears", func() any { return options.gears.Forms() })
		observer.show("client", func() any { return shared.Client.Snapshot() })
		observer.watchInformer(namespaceInformer)
		grace := options.gracePeriod
		if grace == 0 {
			grace = -1 // the flag's 0 means none, the configuration's 0 means the default
		}
		trace := nsctl.JoinTraces(logger.Namespaces(), observer.namespaces(), recording.namespaces(), &nsctl.Trace{
			PassDone: func(string, time.Duration, int, error) { worked() },
		})
		controller, err := nsctl.NewController(nsctl.Config{
			Informer: namespaceInformer,
			Deleter: options.gears.NewDeleter(nsctl.DeleterConfig{
				Namespaces: namespaces,
				Content:    nsctl.NewContentClient(shared.Client),
				Discovery: discovery.NewCached(discovery.NewWithConfig(shared.Client, discovery.Config{
					OnlyWhenReady: true, // a server that is starting does not list all types yet
				})),
				Concurrency: options.typeConcurrency,
				DryRun:      options.dryRun,
				Trace:       trace,
			}),
			Workers:      options.workers,
			ResyncPeriod: options.syncPeriod,
			GracePeriod:  grace,
			DrainTimeout: options.drainTimeout,
			NewQueue:     options.gears.NewQueue,
			QueueTrace:   logger.Queue("namespace"),
			QueueMetrics: observer.queueMetrics(),
			Trace:        trace,
		})
		if err != nil {
			return nil, err
		}
		observer.watchController(controller)
		return controller.RunWithin, nil
	}
}
