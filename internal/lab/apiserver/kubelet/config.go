package kubelet

import (
	"time"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
)

// Config says what a [Kubelet] works on. Registry and Catalog are needed.
type Config struct {
	Registry *registry.Registry
	Catalog  *resources.Catalog
	// Nodes is how many nodes there are; 0: 1. Their names are orrery-node-1 and so on.
	Nodes int
	// Lost tells whether a node does not answer at the moment. It is asked once a second and whenever something is to be
	// done on the node. nil: none is ever lost.
	Lost func(node string) bool
	// Trace is told what happens; nil for none.
	Trace *Trace
}

// Trace holds hooks, which are called from the kubelet's goroutines and must not wait. Each may be nil.
type Trace struct {
	// Bound: a pod was given a node.
	Bound func(namespace, pod, node string)
	// Started: a pod is running.
	Started func(namespace, pod, node string)
	// Stopping: a pod is being deleted; its containers have this long.
	Stopping func(namespace, pod, node string, grace time.Duration)
	// Stopped: a pod's containers have ended and it was removed.
	Stopped func(namespace, pod, node string)
	// Failed: a write was refused and is going to be repeated.
	Failed func(namespace, pod string, err error)
	// NodeChanged: a node does not answer any more (lost), or does again.
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
