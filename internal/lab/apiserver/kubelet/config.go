package kubelet

import (
	"time"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
)

// Config configures a [Kubelet]. Registry and Catalog are required.
type Config struct {
	Registry *registry.Registry
	Catalog  *resources.Catalog
	// Nodes is the number of nodes; 0 means 1. They are named orrery-node-1 and so on.
	Nodes int
	// Lost reports whether a node is unreachable. It is called once a second and before every
	// action on a node. Nil means never.
	Lost func(node string) bool
	// Stays reports whether a pod whose containers have ended cannot be torn down. It is called
	// once a second for such a pod. Nil means never.
	Stays func(namespace, name string) bool
	// Trace receives events; it may be nil.
	Trace *Trace
}

// Trace holds optional hooks, which are called from the kubelet's goroutines and must not block.
type Trace struct {
	// Bound is called when a pod was bound to a node.
	Bound func(namespace, pod, node string)
	// Started is called when a pod is running.
	Started func(namespace, pod, node string)
	// Stopping is called when a pod is being deleted, with the time that its containers have left.
	Stopping func(namespace, pod, node string, grace time.Duration)
	// Stopped is called when a pod's containers have ended and the pod was deleted.
	Stopped func(namespace, pod, node string)
	// Failed is called when a write failed. It will be retried.
	Failed func(namespace, pod string, err error)
	// NodeChanged is called when a node becomes unreachable (lost) or reachable.
	NodeChanged func(node string, lost bool)
}

func (t *Trace) bound(namespace, pod, node string) {
	if t != nil && t.Bound != nil {
		t.Bound(namespace, pod, node)
	}
}

func (t *Trace) started(namespace, pod, node string) {
	if t != nil && t.Started != nil {
		t.Started(namespace, pod, node)
	}
}

func (t *Trace) stopping(namespace, pod, node string, grace time.Duration) {
	if t != nil && t.Stopping != nil {
		t.Stopping(namespace, pod, node, grace)
	}
}

func (t *Trace) stopped(namespace, pod, node string) {
	if t != nil && t.Stopped != nil {
		t.Stopped(namespace, pod, node)
	}
}

func (t *Trace) failed(namespace, pod string, err error) {
	if t != nil && t.Failed != nil {
		t.Failed(namespace, pod, err)
	}
}

func (t *Trace) nodeChanged(node string, lost bool) {
	if t != nil && t.NodeChanged != nil {
		t.NodeChanged(node, lost)
	}
}
