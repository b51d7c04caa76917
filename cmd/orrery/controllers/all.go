// Package controllers lists the controllers: for each its name, its rights, and its initializer.
// This is the article's NewControllerInitializers. An initializer builds a controller from the
// shared informers, the client and the hooks of its [manager.ControllerContext]. Only
// namespace-controller is on by default. The others are examples that kube-controller-manager also
// has, so they run only if they are named.
package controllers

import (
	"time"

	"orrery/controller/manager"
	"orrery/nsctl"
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
