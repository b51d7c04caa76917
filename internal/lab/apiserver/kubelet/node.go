package kubelet

import (
	"context"
	"sync/atomic"
	"time"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// node is one of the nodes that are played.
type node struct {
	kubelet *Kubelet
	name    string
	number  int

	// wasLost is written by the heartbeat.
	wasLost atomic.Bool
	// renewed is when the lease was renewed last. Only of the heartbeat.
	renewed time.Time
}

// user is who the kubelet of the node is to the server.
func (n *node) user() string { return "system:node:" + n.name }

// lost tells whether the node can be reached, as far as is known: what has just been found counts as lost until the
// heartbeat has noticed it, so that everything that waited is looked at then.
func (n *node) lost() bool {
	return n.wasLost.Load() || n.kubelet.config.Lost != nil && n.kubelet.config.Lost(n.name)
}

// beat notices whether the node is lost or found, and renews its lease if it can be reached.
func (n *node) beat(ctx context.Context) (found bool) {
	lost := n.kubelet.config.Lost != nil && n.kubelet.config.Lost(n.name)
	if lost != n.wasLost.Swap(lost) {
		n.kubelet.trace.nodeChanged(n.name, lost)
		n.report(ctx, lost)
		n.taint(ctx, lost)
		found = !lost
	}
	if !lost && time.Since(n.renewed) >= leaseEvery {
		n.renew(ctx)
	}
	return found
}

// register makes the node and its lease, as a kubelet does when it starts. What exists already is kept.
func (n *node) register(ctx context.Context) {
	_, err := n.kubelet.config.Registry.Create(ctx, n.kubelet.nodeTarget(), n.object(), writeOptions(n.user()))
	if err != nil && !api.IsAlreadyExists(err) {
		n.kubelet.trace.failed("", n.name, err)
	}
	n.report(ctx, false)
	n.taint(ctx, false)
	n.renew(ctx)
}

// report writes the conditions of the node. The real kubelet reports that it is ready; that it does not report any more is
// found out by the node lifecycle controller.
func (n *node) report(ctx context.Context, lost bool) {
	t := n.kubelet.nodeTarget()
	t.Name, t.Subresource = n.name, "status"
	_, err := n.kubelet.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		return current, current.SetNested(nodeStatus(n, lost), "status")
	}, writeOptions(n.user()))
	if err != nil {
		n.kubelet.trace.failed("", n.name, err)
	}
}

// taint takes away the taint that a node has until it is ready, and gives it that of a node that cannot be reached: in a real
// cluster both is the node lifecycle controller's. Other taints stay.
func (n *node) taint(ctx context.Context, lost bool) {
	const notReady, unreachable = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
	t := n.kubelet.nodeTarget()
	t.Name = n.name
	_, err := n.kubelet.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		var taints []any
		list, _ := current.Nested("spec", "taints").([]any)
		for _, taint := range list {
			fields, _ := taint.(map[string]any)
			if key := fields["key"]; key != notReady && key != unreachable {
				taints = append(taints, taint)
			}
		}
		if lost {
			taints = append(taints, map[string]any{"key": unreachable, "effect": "NoSchedule"})
		}
		if len(taints) == 0 {
			current.RemoveNested("spec", "taints")
			return current, nil
		}
		return current, current.SetNested(taints, "spec", "taints")
	}, writeOptions(n.user()))
	if err != nil {
		n.kubelet.trace.failed("", n.name, err)
	}
}

// renew says that the node lives. A lease that is missing is made.
func (n *node) renew(ctx context.Context) {
	now := time.Now()
	t := n.kubelet.leaseTarget()
	t.Name = n.name
	_, err := n.kubelet.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		return current, current.SetNested(microTime(now), "spec", "renewTime")
	}, writeOptions(n.user()))
	if api.IsNotFound(err) {
		_, err = n.kubelet.config.Registry.Create(ctx, t, n.lease(now), writeOptions(n.user()))
	}
	if err != nil {
		n.kubelet.trace.failed(t.Namespace, n.name, err)
		return // the next heartbeat tries again
	}
	n.renewed = now
}

func (k *Kubelet) nodeTarget() registry.Target { return target(k.config.Catalog, "", "v1", "nodes") }

func (k *Kubelet) leaseTarget() registry.Target {
	t := target(k.config.Catalog, "coordination.k8s.io", "v1", "leases")
	t.Namespace = "kube-node-lease"
	return t
}
