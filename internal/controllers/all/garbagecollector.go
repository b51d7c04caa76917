package all

import (
	"context"
	"fmt"

	"orrery/examples/garbagecollector"
	"orrery/examples/monitor"
	"orrery/informer"
	"orrery/internal/controllers"
	"orrery/internal/rbac"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// GarbageCollectorOptions are those of the garbage collector.
type GarbageCollectorOptions struct{ Workers int }

func garbageCollector(options GarbageCollectorOptions) controllers.Descriptor {
	return controllers.Descriptor{
		Name: "garbage-collector-controller", Alias: "garbagecollector", About: "deletes what has lost its owners",
		OnDemand: true, BuiltIn: true, EventsEverywhere: true,
		Needs: []api.GroupVersionResource{api.NamespacesResource},
		Rights: func(bool) []rbac.Right {
			return []rbac.Right{{
				Rule:   rbac.Rule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch", "patch", "delete"}},
				Reason: "Objects of every type can own and be owned. Types without these rights are left alone.",
			}}
		},
		QPSFactor: namespaceQPSFactor, BurstFactor: namespaceBurstFactor,
		New: func(c controllers.ControllerContext) (controllers.Controller, error) {
			config := c.WorkerConfig("garbage_collector")
			config.Workers = options.Workers
			return garbagecollector.NewController(garbagecollector.Config{
				Monitor: everyType(c), Worker: config, Trace: garbageTrace(c),
			})
		},
	}
}

// everyType says how a controller sees the objects of all types: by the informers of other controllers, and by its own.
func everyType(c controllers.ControllerContext) monitor.Config {
	type head = *api.PartialObjectMetadata
	return monitor.Config{
		Discovery: discovery.NewWithConfig(c.Client, discovery.Config{OnlyWhenReady: true}),
		Heads: func(resource api.GroupVersionResource, namespace string) monitor.Heads {
			return restclient.Metadata(c.Client, resource, namespace)
		},
		Informer: func(resource api.GroupVersionResource) informer.Config[head] {
			return controllers.InformerConfig(c, "heads of "+resource.Resource, resource, func(o head) *api.ObjectMeta { return &o.ObjectMeta })
		},
		Shared: func(resource api.GroupVersionResource, handler informer.ResourceEventHandler[head]) (informer.InformerSynced, func(), bool) {
			return controllers.SharedHeads(c, resource, handler)
		},
	}
}

func garbageTrace(c controllers.ControllerContext) *garbagecollector.Trace {
	recorder := c.Recorder()
	return &garbagecollector.Trace{
		Wrote: func(object api.ObjectReference, what string) {
			c.Logger.At(1).Str("controller", c.Name).Str("kind", object.Kind).Str("namespace", object.Namespace).Str("name", object.Name).Str("change", what).Msg("object with owners changed")
		},
		InvalidNamespace: func(object api.ObjectReference, owner api.OwnerReference) {
			recorder.Event(context.Background(), object, api.EventWarning, "OwnerRefInvalidNamespace",
				fmt.Sprintf("ownerRef [%s %s, uid: %s] does not exist in namespace %q", owner.Kind, owner.Name, owner.UID, object.Namespace))
		},
		Refused: func(resource api.GroupVersionResource, err error) {
			c.Logger.Warn().Str("controller", c.Name).Str("resource", resource.GroupResource()).Err(err).Msg("objects cannot be seen, going on without them")
		},
	}
}
