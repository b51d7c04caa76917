package kubelet

import (
	"context"
	"sync/atomic"
	"time"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// node is a simulated node.
type node struct {
	kubelet *Kubelet
	name    string
	number  int

	// wasLost is written by the heartbeat.
	wasLost atomic.Bool
	// renewed is when the lease was last renewed. Used by the heartbeat only.
	renewed time.Time
}

// user returns the user name of the node's kubelet.
func (n *node) user() string { return "system:node:" + n.name }

// lost reports whether the node is unreachable. A recovered node counts as lost until the heartbeat
// has noticed, because that enqueues the waiting pods.
func (n *node) lost() bool {
	return n.wasLost.Load() || n.kubelet.config.Lost(n.name)
}

// beat notices whether the node was lost or found, and renews its lease if it is reachable.
func (n *node) beat(ctx context.Context) (found bool) {
	lost := n.kubelet.config.Lost(n.name)
	if lost != n.wasLost.Swap(lost) {
		n.report(ctx, lost)
		found = !lost
	}
	if !lost && time.Since(n.renewed) >= leaseEvery {
		n.renew(ctx)
	}
	return found
}

// register creates the node and its lease if they do not exist.
func (n *node) register(ctx context.Context) {
	// A node that exists stays, and one that cannot be created gets no pods.
	_, _ = n.kubelet.config.Registry.Create(ctx, n.kubelet.nodeTarget(), n.object(), writeOptions(n.user()))
	n.report(ctx, false)
	n.renew(ctx)
}

// report updates the conditions of the node. In a real cluster the kubelet reports readiness, and
// the node lifecycle controller notices that it no longer does.
func (n *node) report(ctx context.Context, lost bool) {
	t := n.kubelet.nodeTarget()
	t.Name, t.Subresource = n.name, "status"
	_ = n.kubelet.patch(ctx, t, n.user(), func(o *api.Unstructured) error {
		return o.SetNested(nodeStatus(n, lost), "status")
	})
}

// renew renews the lease, creating it if necessary.
func (n *node) renew(ctx context.Context) {
	now := time.Now()
	t := target(n.kubelet.config.Catalog, "coordination.k8s.io", "v1", "leases")
	t.Namespace, t.Name = "kube-node-lease", n.name
	_, err := n.kubelet.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		return current, current.SetNested(microTime(now), "spec", "renewTime")
	}, writeOptions(n.user()))
	if api.IsNotFound(err) {
		_, err = n.kubelet.config.Registry.Create(ctx, t, n.lease(now), writeOptions(n.user()))
	}
	if err == nil { // otherwise the next heartbeat retries it
		n.renewed = now
	}
}

func (k *Kubelet) nodeTarget() registry.Target { return target(k.config.Catalog, "", "v1", "nodes") }
