package kubelet

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// sync does what is due for a pod. After an error it is retried.
func (k *Kubelet) sync(ctx context.Context, key store.Key) error {
	t := k.pods
	t.Namespace, t.Name = key.Namespace, key.Name
	stored, err := k.config.Registry.Get(t, api.GetOptions{})
	if api.IsNotFound(err) {
		delete(k.stopping, key)
		return nil
	}
	if err != nil {
		return err
	}
	pod := stored.Decode()
	name := pod.NestedString("spec", "nodeName")
	if name == "" {
		return k.schedule(ctx, t, pod)
	}
	n := k.byName[name]
	switch {
	case n == nil || n.lost():
		return nil // another kubelet's pod, or unreachable: beat enqueues all pods when the node is found
	case pod.GetDeletionTimestamp() != nil:
		return k.stop(ctx, t, pod, n)
	case pod.NestedString("status", "phase") == "Pending" || pod.NestedString("status", "phase") == "":
		return k.start(ctx, t, pod, n)
	}
	return nil
}

// start reports that a pod's containers run.
func (k *Kubelet) start(ctx context.Context, t registry.Target, pod *api.Unstructured, n *node) error {
	k.lastIP++
	ip := fmt.Sprintf("10.244.%d.%d", k.lastIP>>8&0xff, k.lastIP&0xff)
	uid := pod.GetUID()
	t.Subresource = "status"
	return k.patch(ctx, t, n.user(), func(current *api.Unstructured) error {
		if current.GetUID() != uid || current.GetDeletionTimestamp() != nil {
			return nil // another pod, or terminating: no change
		}
		return current.SetNested(runningStatus(current, n, ip), "status")
	})
}

// stop deletes a terminating pod when its time is over, and waits until then.
func (k *Kubelet) stop(ctx context.Context, t registry.Target, pod *api.Unstructured, n *node) error {
	key := keyOf(t)
	deadline, grace := pod.GetDeletionTimestamp().Time, pod.NestedInt64("metadata", "deletionGracePeriodSeconds")
	if listens, ok := stopsAfter(pod); ok {
		whole := time.Duration(grace) * time.Second
		deadline = deadline.Add(min(listens, whole) - whole)
	}
	wait, uid := time.Until(deadline), pod.GetUID()
	known := k.stopping[key]
	switch {
	case known.uid != uid:
		k.stopping[key] = ending{uid: uid}
	case known.over:
		return nil // held by finalizers
	}
	if wait > 0 {
		k.keys.AddAfter(key, wait)
		return nil
	}
	if k.config.Stays(t.Namespace, t.Name) {
		k.keys.AddAfter(key, heartbeat)
		return k.end(ctx, t, uid, n)
	}
	now := int64(0)
	_, gone, err := k.config.Registry.Delete(ctx, t, api.DeleteOptions{
		GracePeriodSeconds: &now,
		Preconditions:      &api.Preconditions{UID: &uid},
	}, writeOptions(n.user()))
	if err != nil {
		return ignoreGone(err)
	}
	k.stopping[key] = ending{uid: uid, over: true}
	if gone {
		delete(k.stopping, key)
	}
	return nil
}

// end reports that the containers of a pod have ended, which stays although they have.
func (k *Kubelet) end(ctx context.Context, t registry.Target, uid string, n *node) error {
	t.Subresource = "status"
	return k.patch(ctx, t, n.user(), func(current *api.Unstructured) error {
		if current.GetUID() == uid {
			endContainers(current)
		}
		return nil
	})
}

// ending is the progress of a pod's termination.
type ending struct {
	uid  string
	over bool // the containers have ended and the pod was deleted
}

// stopsAfter returns the duration in the annotation, if it is valid.
func stopsAfter(pod *api.Unstructured) (time.Duration, bool) {
	text, ok := pod.GetAnnotations()[StopsAfter]
	if !ok {
		return 0, false
	}
	listens, err := time.ParseDuration(text)
	return max(listens, 0), err == nil
}

// ignoreGone ignores that a pod is already gone. The retry notices another pod with its name.
func ignoreGone(err error) error {
	if api.IsNotFound(err) {
		return nil
	}
	return err
}

func keyOf(t registry.Target) store.Key { return store.Key{Namespace: t.Namespace, Name: t.Name} }

// releaseClaims removes the protection finalizer from terminating claims that no pod uses, like the
// pvc-protection controller. Without it a namespace with a claim could not be emptied.
func (k *Kubelet) releaseClaims(ctx context.Context) {
	claims := target(k.config.Catalog, "", "v1", "persistentvolumeclaims")
	page, err := k.config.Registry.List(claims, api.ListOptions{})
	if err != nil {
		return // retried by the next heartbeat
	}
	for _, claim := range page.Items {
		if claim.Deleting && !k.used(claim.Key) {
			k.releaseClaim(ctx, claims, claim)
		}
	}
}

// used reports whether an unfinished pod uses the claim.
func (k *Kubelet) used(claim store.Key) bool {
	pods := k.pods
	pods.Namespace = claim.Namespace
	page, err := k.config.Registry.List(pods,
		api.ListOptions{FieldSelector: "status.phase!=Succeeded,status.phase!=Failed"})
	if err != nil {
		return true
	}
	return slices.ContainsFunc(page.Items, func(pod *store.Object) bool {
		volumes, _ := pod.Decode().Nested("spec", "volumes").([]any)
		return slices.ContainsFunc(volumes, func(volume any) bool {
			fields, _ := volume.(map[string]any)
			source := api.Unstructured{Object: fields}
			return source.NestedString("persistentVolumeClaim", "claimName") == claim.Name
		})
	})
}

func (k *Kubelet) releaseClaim(ctx context.Context, t registry.Target, claim *store.Object) {
	t.Namespace, t.Name = claim.Key.Namespace, claim.Key.Name
	_ = k.patch(ctx, t, claimController, func(current *api.Unstructured) error {
		finalizers, _ := current.Nested("metadata", "finalizers").([]any)
		left := slices.DeleteFunc(slices.Clone(finalizers),
			func(finalizer any) bool { return finalizer == resources.FinalizerClaimProtection })
		if current.GetUID() != claim.UID || len(left) == len(finalizers) {
			return nil
		}
		return current.SetNested(left, "metadata", "finalizers")
	}) // retried by the next heartbeat
}

// The users of the other programs that this package simulates.
const (
	scheduler       = "system:kube-scheduler"
	claimController = "system:serviceaccount:kube-system:pvc-protection-controller"
)

// schedule binds a pod to the next node that is reachable and not cordoned. Without one it waits
// for the next change of a node, which enqueues the pod again. Terminating and gated pods, and
// those of another scheduler, are not scheduled.
func (k *Kubelet) schedule(ctx context.Context, t registry.Target, pod *api.Unstructured) error {
	gates, _ := pod.Nested("spec", "schedulingGates").([]any)
	if pod.GetDeletionTimestamp() != nil || len(gates) > 0 ||
		pod.NestedString("spec", "schedulerName") != "default-scheduler" {
		return nil
	}
	for range k.nodes {
		n := k.nodes[k.turn%len(k.nodes)]
		k.turn++
		at := k.nodeTarget()
		at.Name = n.name
		stored, err := k.config.Registry.Get(at, api.GetOptions{})
		if err != nil || n.lost() || stored.Decode().NestedBool("spec", "unschedulable") {
			continue
		}
		// The binding is an event, which enqueues the pod again.
		return ignoreGone(k.config.Registry.Bind(ctx, t, n.name, writeOptions(scheduler)))
	}
	return nil
}

// This file has the documents that simulated nodes report about themselves and their pods.

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// microTime formats a time like leases.
func microTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

func (n *node) object() *api.Unstructured {
	return &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": n.name,
			"labels": map[string]any{
				"kubernetes.io/hostname": n.name,
				"kubernetes.io/arch":     runtime.GOARCH,
				"kubernetes.io/os":       "linux",
			},
			"annotations": map[string]any{"kubelet.orrery/simulated": "true"},
		},
	}}
}

func (n *node) lease(now time.Time) *api.Unstructured {
	return &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": n.name, "namespace": "kube-node-lease"},
		"spec": map[string]any{
			"holderIdentity":       n.name,
			"leaseDurationSeconds": int64(40),
			"renewTime":            microTime(now),
		},
	}}
}

// nodeStatus returns the status of a reachable node, or of a lost one.
func nodeStatus(n *node, lost bool) map[string]any {
	resources := map[string]any{"cpu": "8", "memory": "16Gi", "pods": "110000"}
	now := timestamp(time.Now())
	condition := func(kind, status, reason, message string) map[string]any {
		if lost {
			status, reason, message = "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."
		}
		return map[string]any{
			"type": kind, "status": status, "reason": reason, "message": message,
			"lastHeartbeatTime": now, "lastTransitionTime": now,
		}
	}
	return map[string]any{
		"capacity":    resources,
		"allocatable": resources,
		"addresses": []any{
			map[string]any{"type": "InternalIP", "address": fmt.Sprintf("10.0.0.%d", n.number)},
			map[string]any{"type": "Hostname", "address": n.name},
		},
		"nodeInfo": map[string]any{
			"machineID": "", "systemUUID": "", "bootID": "",
			"kernelVersion": "none", "osImage": "none", "operatingSystem": "linux", "architecture": runtime.GOARCH,
			"containerRuntimeVersion": "orrery://none", "kubeletVersion": "orrery", "kubeProxyVersion": "",
		},
		"conditions": []any{
			condition("Ready", "True", "KubeletReady", "simulated node without containers"),
			condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "simulated memory"),
			condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "simulated disk"),
			condition("PIDPressure", "False", "KubeletHasSufficientPID", "simulated process IDs"),
		},
	}
}

// runningStatus returns the status of a pod whose containers all run.
func runningStatus(pod *api.Unstructured, n *node, ip string) map[string]any {
	now := timestamp(time.Now())
	var conditions []any
	for _, kind := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
		"PodScheduled"} {
		conditions = append(conditions, map[string]any{
			"type": kind, "status": "True", "lastProbeTime": nil, "lastTransitionTime": now,
		})
	}
	return map[string]any{
		"phase": "Running", "startTime": now,
		"hostIP": fmt.Sprintf("10.0.0.%d", n.number), "podIP": ip,
		"podIPs":     []any{map[string]any{"ip": ip}},
		"conditions": conditions, "containerStatuses": containerStatuses(pod, now),
	}
}

func containerStatuses(pod *api.Unstructured, now string) []any {
	containers, _ := pod.Nested("spec", "containers").([]any)
	statuses := []any{}
	for _, container := range containers {
		fields, _ := container.(map[string]any)
		name, _ := fields["name"].(string)
		image, _ := fields["image"].(string)
		statuses = append(statuses, map[string]any{
			"name": name, "image": image, "imageID": "",
			"containerID": "orrery://" + pod.GetUID() + "/" + name,
			"ready":       true, "started": true, "restartCount": int64(0),
			"state": map[string]any{"running": map[string]any{"startedAt": now}},
		})
	}
	return statuses
}

// endContainers changes the status of a pod to that of one whose containers have ended. A second
// call changes nothing.
func endContainers(pod *api.Unstructured) {
	now := timestamp(time.Now())
	statuses, _ := pod.Nested("status", "containerStatuses").([]any)
	for _, one := range statuses {
		status, _ := one.(map[string]any)
		state, _ := status["state"].(map[string]any)
		running, runs := state["running"].(map[string]any)
		if !runs {
			continue
		}
		status["ready"], status["started"] = false, false
		status["state"] = map[string]any{"terminated": map[string]any{
			"exitCode": int64(0), "reason": "Completed", "startedAt": running["startedAt"], "finishedAt": now,
			"containerID": status["containerID"],
		}}
	}
	conditions, _ := pod.Nested("status", "conditions").([]any)
	for _, one := range conditions {
		condition, _ := one.(map[string]any)
		if kind := condition["type"]; condition["status"] == "True" && (kind == "Ready" || kind == "ContainersReady") {
			condition["status"], condition["reason"], condition["lastTransitionTime"] = "False", "PodCompleted", now
		}
	}
}
