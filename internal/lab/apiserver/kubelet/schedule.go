package kubelet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// The users of the other programs that this package simulates.
const (
	scheduler       = "system:kube-scheduler"
	claimController = "system:serviceaccount:kube-system:pvc-protection-controller"
)

// Why a node cannot have a pod, in the words of kube-scheduler.
const (
	cordoned  = "node(s) were unschedulable"
	tainted   = "node(s) had untolerated taint(s)"
	unmatched = "node(s) didn't match Pod's node affinity/selector"
)

// schedule binds a pod to the next node that may have it. Without one, the pod's condition
// PodScheduled says why, and the next change of a node enqueues the pod again. Terminating and
// gated pods, and those of another scheduler, are not scheduled.
func (k *Kubelet) schedule(ctx context.Context, t registry.Target, pod *api.Unstructured) error {
	gates, _ := pod.Nested("spec", "schedulingGates").([]any)
	if pod.GetDeletionTimestamp() != nil || len(gates) > 0 || pod.NestedString("spec", "schedulerName") != "default-scheduler" {
		return nil
	}
	nodes, refusals := 0, map[string]int{}
	for range k.nodes {
		n := k.nodes[k.turn%len(k.nodes)]
		k.turn++
		at := k.nodeTarget()
		at.Name = n.name
		stored, err := k.config.Registry.Get(at, api.GetOptions{})
		if err != nil {
			continue // deleted
		}
		why := refusal(stored.Decode(), pod)
		if n.lost() {
			why = tainted
		}
		if why != "" {
			nodes++
			refusals[why]++
			continue
		}
		if err := k.config.Registry.Bind(ctx, t, n.name, writeOptions(scheduler)); err != nil {
			return ignoreGone(err)
		}
		k.trace.bound(t.Namespace, t.Name, n.name)
		return nil // the binding is an event, which enqueues the pod again
	}
	return k.reportUnschedulable(ctx, t, pod.GetUID(), nodes, refusals)
}

// refusal returns why a node may not have a pod, or "".
func refusal(node, pod *api.Unstructured) string {
	tolerations := fieldsOf(pod.Nested("spec", "tolerations"))
	if unschedulable, _ := node.Nested("spec", "unschedulable").(bool); unschedulable &&
		!tolerated(tolerations, map[string]any{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}) {
		return cordoned
	}
	for _, taint := range fieldsOf(node.Nested("spec", "taints")) {
		if taint["effect"] != "PreferNoSchedule" && !tolerated(tolerations, taint) {
			return tainted
		}
	}
	labels, selector := node.GetLabels(), pod.Nested("spec", "nodeSelector")
	wanted, _ := selector.(map[string]any)
	for key, value := range wanted {
		if has, ok := labels[key]; !ok || has != value {
			return unmatched
		}
	}
	return ""
}

// tolerated reports whether one of the tolerations is for the taint. An empty effect is for all
// effects, and an empty key, which needs the operator Exists, for all keys.
func tolerated(tolerations []map[string]any, taint map[string]any) bool {
	return slices.ContainsFunc(tolerations, func(toleration map[string]any) bool {
		text := func(fields map[string]any, name string) string {
			value, _ := fields[name].(string)
			return value
		}
		key, effect := text(toleration, "key"), text(toleration, "effect")
		if key != "" && key != text(taint, "key") || effect != "" && effect != text(taint, "effect") {
			return false
		}
		return text(toleration, "operator") == "Exists" || text(toleration, "value") == text(taint, "value")
	})
}

// fieldsOf returns the objects of a list.
func fieldsOf(list any) (all []map[string]any) {
	items, _ := list.([]any)
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok {
			all = append(all, fields)
		}
	}
	return all
}

// reportUnschedulable sets the condition PodScheduled of a pod that no node may have.
func (k *Kubelet) reportUnschedulable(ctx context.Context, t registry.Target, uid string, nodes int, refusals map[string]int) error {
	message := "no nodes available to schedule pods"
	if nodes > 0 {
		var reasons []string
		for why, n := range refusals {
			reasons = append(reasons, fmt.Sprintf("%d %s", n, why))
		}
		slices.Sort(reasons)
		message = fmt.Sprintf("0/%d nodes are available: %s.", nodes, strings.Join(reasons, ", "))
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
