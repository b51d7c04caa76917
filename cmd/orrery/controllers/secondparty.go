package controllers

import (
	"errors"
	"time"

	"orrery/controller/gears"
	"orrery/controller/manager"
	"orrery/controller/rbac"
	"orrery/examples/secondparty"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
)

// SecondPartyOptions configure the second party that holds namespaces.
type SecondPartyOptions struct {
	// Storage is the directory with its content. It is required, and replicas must share it: one
	// with an empty directory would release a namespace that another replica holds.
	Storage string
}

const secondPartyName = "second-party-controller"

var errNoStorage = errors.New("the second party needs a directory for its content: --second-party-storage")

func secondPartyController(options SecondPartyOptions) manager.Descriptor {
	return manager.Descriptor{
		Name: secondPartyName, Alias: "second-party", About: "holds namespaces with the token " + secondparty.Token + " until their files in a directory are deleted",
		OnDemand: true,
		Needs:    []api.GroupVersionResource{api.NamespacesResource},
		Rights: func(bool) []rbac.Right {
			return []rbac.Right{
				rbac.RightTo(api.NamespacesResource, "", "The second party sees which namespaces are being deleted.", "get", "list", "watch"),
				rbac.RightTo(api.NamespacesResource, "finalize", "The second party takes its finalizer off.", "update"),
			}
		},
		New: func(c manager.ControllerContext) (manager.Controller, error) {
			return startSecondParty(c, options)
		},
	}
}

// startSecondParty sets the second party up. Its passes are logged and counted as for any
// controller. Conditions, Events and the rest of the log of a namespace are left to the first
// party.
func startSecondParty(c manager.ControllerContext, options SecondPartyOptions) (manager.Controller, error) {
	if options.Storage == "" {
		return nil, errNoStorage
	}
	storage, err := secondparty.OpenStorage(options.Storage)
	if err != nil {
		return nil, err
	}
	passes := c.PassTrace()
	trace := &nsctl.Trace{
		PassContext: passes.PassContext,
		PassStarted: passes.PassStarted,
		Finalized: func(namespace string, err error) {
			if err == nil { // err comes from the pass
				c.Logger.FinalizerRemoved(c.Name, namespace, secondparty.Token)
			}
		},
		PassDone: func(namespace string, took time.Duration, failures int, err error) {
			var after time.Duration
			if remaining, ok := errors.AsType[*nsctl.ResourcesRemainingError](err); ok {
				after, err = remaining.RequeueAfter(), nil
			}
			passes.PassDone(namespace, took, failures, after, err)
		},
	}
	config := secondparty.DeleterConfig(restclient.Typed[*api.Namespace](c.Client, api.NamespacesResource, ""), storage)
	config.Trace = trace
	const queueName = "second-party"
	controller, err := nsctl.NewController(nsctl.Config{
		Name:         queueName,
		Informer:     manager.InformerFor(c, api.NamespacesResource, func(ns *api.Namespace) *api.ObjectMeta { return &ns.ObjectMeta }),
		Deleter:      gears.Choose(c.Gears, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)(config),
		DrainTimeout: c.DrainTimeout,
		NewQueue:     c.Gears.NewQueue,
		QueueTrace:   c.QueueTrace(queueName),
		QueueMetrics: c.QueueMetrics(),
		Trace:        trace,
	})
	if err != nil {
		return nil, err
	}
	c.Show("controller/"+c.Name, func() any { return controller.Snapshot() })
	return controller, nil
}
