package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"orrery/controller/manager"
	"orrery/controller/rbac"
	"orrery/examples/garbagecollector"
	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

func garbageCollector() manager.Descriptor {
	return manager.Descriptor{
		Name: "garbage-collector-controller", Alias: "garbagecollector", About: "deletes objects whose owners are gone",
		OnDemand: true, BuiltIn: true, EventsEverywhere: true,
		Needs: []api.GroupVersionResource{api.NamespacesResource},
		Rights: func(bool) []rbac.Right {
			return []rbac.Right{{
				Rule: rbac.Rule{APIGroups: []string{"*"}, Resources: []string{"*"},
					Verbs: []string{"get", "list", "watch", "patch", "delete"}},
				Reason: "Objects of every type can own and be owned. Types without these rights are left alone.",
			}}
		},
		QPSFactor: namespaceQPSFactor, BurstFactor: namespaceBurstFactor,
		New: func(c manager.ControllerContext) (manager.Controller, error) {
			type head = *api.PartialObjectMetadata
			return garbagecollector.NewController(garbagecollector.Config{
				Discovery: discovery.NewWithConfig(c.Client, discovery.Config{OnlyWhenReady: true}),
				Heads: func(resource api.GroupVersionResource, namespace string) garbagecollector.Heads {
					return restclient.Metadata(c.Client, resource, namespace)
				},
				Informer: func(resource api.GroupVersionResource) informer.Config[head] {
					meta := func(o head) *api.ObjectMeta { return &o.ObjectMeta }
					return manager.InformerConfig(c, "heads of "+resource.Resource, resource, meta)
				},
				Worker: c.WorkerConfig("garbage_collector"), Trace: garbageTrace(c),
			}), nil
		},
	}
}

func garbageTrace(c manager.ControllerContext) *garbagecollector.Trace {
	var rare refusals
	recorder := c.Recorder()
	return &garbagecollector.Trace{
		Wrote: func(object api.ObjectReference, what string) {
			c.Logger.At(1).Str("controller", c.Name).Str("kind", object.Kind).Str("namespace", object.Namespace).
				Str("name", object.Name).Str("change", what).Msg("object with owners changed")
		},
		InvalidNamespace: func(object api.ObjectReference, owner api.OwnerReference) {
			recorder.Event(context.Background(), object, api.EventWarning, "OwnerRefInvalidNamespace",
				fmt.Sprintf("ownerRef [%s %s, uid: %s] does not exist in namespace %q", owner.Kind, owner.Name,
					owner.UID, object.Namespace))
		},
		Forbidden: func(err error) {
			rare.report(err, func(resource string) {
				c.Logger.Warn().Str("controller", c.Name).Str("resource", resource).Err(err).
					Msg("objects cannot be collected, trying again in a minute")
			})
		},
		Refused: func(resource api.GroupVersionResource, err error) {
			c.Logger.Warn().Str("controller", c.Name).Str("resource", resource.TypeName()).Err(err).
				Msg("objects cannot be seen, going on without them")
		},
	}
}

// refusals limits the log lines about missing rights to one a minute for each type, however many
// objects wait.
type refusals struct{ lines sync.Map } // *rate.Sometimes, by resource

// report calls log with the resource that the server refuses, if a line about it is due.
func (r *refusals) report(err error, log func(resource string)) {
	resource := ""
	if refused, ok := errors.AsType[*api.StatusError](err); ok && refused.Status.Details != nil {
		details := refused.Status.Details
		resource = api.GroupVersionResource{Group: details.Group, Resource: details.Kind}.TypeName()
	}
	lines, _ := r.lines.LoadOrStore(resource, &rate.Sometimes{Interval: time.Minute})
	lines.(*rate.Sometimes).Do(func() { log(resource) })
}
