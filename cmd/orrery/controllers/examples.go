package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"orrery/controller"
	"orrery/controller/manager"
	"orrery/controller/rbac"
	"orrery/examples/apps"
	"orrery/examples/garbagecollector"
	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

const mayBlock = "Set blockOwnerDeletion in references to the owner; only the admission plugin " +
	"OwnerReferencesPermissionEnforcement requires this."

func replicaSetController() manager.Descriptor {
	return manager.Descriptor{
		Name: "replicaset-controller", Alias: "replicaset", About: "creates and deletes the pods of replica sets",
		OnDemand: true, BuiltIn: true, EventsEverywhere: true,
		Needs: []api.GroupVersionResource{apps.ReplicaSetsResource, api.PodsResource},
		Rights: func(bool) []rbac.Right {
			return []rbac.Right{
				rbac.RightTo(apps.ReplicaSetsResource, "",
					"Replica sets are watched, and read once more before a pod is adopted or created.",
					"get", "list", "watch"),
				rbac.RightTo(apps.ReplicaSetsResource, "status", "How many pods there are.", "patch"),
				rbac.RightTo(apps.ReplicaSetsResource, "finalizers", mayBlock, "update"),
				rbac.RightTo(api.PodsResource, "",
					"The pods of replica sets: watched, created, adopted and released, deleted.",
					"list", "watch", "create", "patch", "delete"),
			}
		},
		New: func(c manager.ControllerContext) (manager.Controller, error) {
			recorder := c.Recorder()
			// recorded has the reasons and messages of kube-controller-manager.
			recorded := func(verb, doing, done string) func(*apps.ReplicaSet, string, error) {
				return func(set *apps.ReplicaSet, pod string, err error) {
					kind, reason, message := api.EventNormal, "Successful"+verb, done+" pod: "+pod
					if err != nil {
						kind, reason, message = api.EventWarning, "Failed"+verb, "Error "+doing+": "+err.Error()
					}
					regarding := set.Reference(apps.ReplicaSetKind, apps.GroupVersion)
					recorder.Event(context.Background(), regarding, kind, reason, message)
				}
			}
			controller, err := apps.NewReplicaSetController(apps.ReplicaSetConfig{
				ReplicaSets: collection[*apps.ReplicaSet](c, apps.ReplicaSetsResource),
				Pods:        collection[*apps.Pod](c, api.PodsResource),
				Worker:      c.WorkerConfig("replicaset"),
				Trace: &apps.ReplicaSetTrace{
					Created: recorded("Create", "creating", "Created"),
					Deleted: recorded("Delete", "deleting", "Deleted"),
				},
			})
			if err != nil {
				return nil, err
			}
			return newPooled(c, controller.Pool), nil
		},
	}
}

func deploymentController() manager.Descriptor {
	return manager.Descriptor{
		Name: "deployment-controller", Alias: "deployment", About: "rolls deployments out, by replica sets",
		OnDemand: true, BuiltIn: true, EventsEverywhere: true,
		Needs: []api.GroupVersionResource{apps.DeploymentsResource, apps.ReplicaSetsResource, api.PodsResource},
		Rights: func(bool) []rbac.Right {
			return []rbac.Right{
				rbac.RightTo(apps.DeploymentsResource, "",
					"Deployments are watched, and read once more before a set is adopted or created.",
					"get", "list", "watch"),
				rbac.RightTo(apps.DeploymentsResource, "status",
					"The progress of a rollout, and its revision.", "patch"),
				rbac.RightTo(apps.DeploymentsResource, "finalizers", mayBlock, "update"),
				rbac.RightTo(apps.ReplicaSetsResource, "",
					"The replica sets of deployments: watched, created, scaled, adopted and released, deleted.",
					"get", "list", "watch", "create", "patch", "delete"),
				rbac.RightTo(api.PodsResource, "",
					"A rollout by recreation waits for old pods to go.", "list", "watch"),
			}
		},
		New: func(c manager.ControllerContext) (manager.Controller, error) {
			recorder := c.Recorder()
			record := func(d *apps.Deployment, message string) {
				regarding := d.Reference(apps.DeploymentKind, apps.GroupVersion)
				recorder.Event(context.Background(), regarding, api.EventNormal, "ScalingReplicaSet", message)
			}
			controller, err := apps.NewDeploymentController(apps.DeploymentConfig{
				Deployments: collection[*apps.Deployment](c, apps.DeploymentsResource),
				ReplicaSets: collection[*apps.ReplicaSet](c, apps.ReplicaSetsResource),
				Pods:        collection[*apps.Pod](c, api.PodsResource),
				Worker:      c.WorkerConfig("deployment"),
				Trace: &apps.DeploymentTrace{
					Created: func(d *apps.Deployment, set *apps.ReplicaSet) {
						if set.Spec.Replicas > 0 {
							record(d, fmt.Sprintf("Scaled up replica set %s from 0 to %d", set.Name, set.Spec.Replicas))
						}
					},
					Scaled: func(d *apps.Deployment, set *apps.ReplicaSet, to int) {
						direction := "up"
						if to < set.Spec.Replicas {
							direction = "down"
						}
						record(d, fmt.Sprintf("Scaled %s replica set %s from %d to %d", direction, set.Name,
							set.Spec.Replicas, to))
					},
				},
			})
			if err != nil {
				return nil, err
			}
			return newPooled(c, controller.Pool), nil
		},
	}
}

// collection is how a controller reads and writes a type.
func collection[T apps.Owned](c manager.ControllerContext, resource api.GroupVersionResource) apps.Collection[T] {
	return apps.NewCollection(manager.InformerFor(c, resource, T.Meta), restclient.Typed[T](c.Client, resource, ""))
}

// pooled is a controller that consists of a pool.
type pooled struct{ *controller.Pool }

func (p pooled) RunWithin(stop, alive context.Context) { p.Run(stop, alive) }

func newPooled(c manager.ControllerContext, pool *controller.Pool) pooled {
	c.Show("controller/"+c.Name, func() any { return pool.Snapshot() })
	return pooled{pool}
}

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
