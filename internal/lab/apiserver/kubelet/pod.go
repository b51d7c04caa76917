package kubelet

import (
	"context"
	"fmt"
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
