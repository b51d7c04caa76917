package kubelet

import (
	"context"
	"fmt"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// The users of the other programs that this package simulates.
const (
	scheduler       = "system:kube-scheduler"
	claimController = "system:serviceaccount:kube-system:pvc-protection-controller"
)

// schedule binds a pod to the next node that is reachable and not cordoned. Without one, the pod's
// condition PodScheduled says so, and the next change of a node enqueues the pod again. Terminating
// and gated pods, and those of another scheduler, are not scheduled.
func (k *Kubelet) schedule(ctx context.Context, t registry.Target, pod *api.Unstructured) error {
	gates, _ := pod.Nested("spec", "schedulingGates").([]any)
	if pod.GetDeletionTimestamp() != nil || len(gates) > 0 || pod.NestedString("spec", "schedulerName") != "default-scheduler" {
		return nil
	}
	nodes := 0
	for range k.nodes {
		n := k.nodes[k.turn%len(k.nodes)]
		k.turn++
		at := k.nodeTarget()
		at.Name = n.name
		stored, err := k.config.Registry.Get(at, api.GetOptions{})
		if err != nil {
			continue // deleted
		}
		nodes++
		if stored.Decode().NestedBool("spec", "unschedulable") || n.lost() {
			continue
		}
		// The binding is an event, which enqueues the pod again.
		return ignoreGone(k.config.Registry.Bind(ctx, t, n.name, writeOptions(scheduler)))
	}
	return k.reportUnschedulable(ctx, t, pod.GetUID(), nodes)
}

// reportUnschedulable sets the condition PodScheduled of a pod that no node may have.
func (k *Kubelet) reportUnschedulable(ctx context.Context, t registry.Target, uid string, nodes int) error {
	message := "no nodes available to schedule pods"
	if nodes > 0 {
		message = fmt.Sprintf("0/%d nodes are available: %d node(s) were unschedulable.", nodes, nodes)
	}
	t.Subresource = "status"
	_, err := k.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		if current.GetUID() == uid && current.NestedString("spec", "nodeName") == "" {
			registry.SetCondition(current, "PodScheduled", api.ConditionFalse, "Unschedulable", message)
		}
		return current, nil
	}, writeOptions(scheduler))
	return ignoreGone(err)
}
