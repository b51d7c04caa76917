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

// sync does for a pod what is to be done now, whatever made somebody look at it. An error means: look again.
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
		return nil // somebody else's, or it cannot hear us: when the node is found all pods are looked at again
	case pod.GetDeletionTimestamp() != nil:
		return k.stop(ctx, t, pod, n)
	case pod.NestedString("status", "phase") == "Pending" || pod.NestedString("status", "phase") == "":
		return k.start(ctx, t, pod, n)
	}
	return nil
}

// schedule gives a pod the next node that can be reached. A pod that is being deleted needs none any more,
// and one with scheduling gates has to wait for them.
func (k *Kubelet) schedule(ctx context.Context, t registry.Target, pod *api.Unstructured) error {
	if gates, _ := pod.Nested("spec", "schedulingGates").([]any); pod.GetDeletionTimestamp() != nil || len(gates) > 0 {
		return nil
	}
	for range k.nodes {
		n := k.nodes[k.turn%len(k.nodes)]
		k.turn++
		if n.lost() {
			continue
		}
		if err := k.config.Registry.Bind(ctx, t, n.name, writeOptions(scheduler)); err != nil {
			return ignoreGone(err)
		}
		k.trace.bound(t.Namespace, t.Name, n.name)
		return nil // its being bound is an event, which brings us back
	}
	return nil // when a node is found all pods are looked at again
}

const scheduler = "system:kube-scheduler"

// start says that a pod's containers run.
func (k *Kubelet) start(ctx context.Context, t registry.Target, pod *api.Unstructured, n *node) error {
	k.lastIP++
	ip := fmt.Sprintf("10.244.%d.%d", k.lastIP>>8&0xff, k.lastIP&0xff)
	uid := pod.GetUID()
	t.Subresource = "status"
	_, err := k.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		if current.GetUID() != uid || current.GetDeletionTimestamp() != nil {
			return current, nil // another one, or it is not going to run any more: nothing is changed
		}
		return current, current.SetNested(runningStatus(current, n, ip), "status")
	}, writeOptions(n.user()))
	if err != nil {
		return ignoreGone(err)
	}
	k.trace.started(t.Namespace, t.Name, n.name)
	return nil
}

// stop ends a pod, or comes back when it is time to.
func (k *Kubelet) stop(ctx context.Context, t registry.Target, pod *api.Unstructured, n *node) error {
	key := keyOf(t)
	deadline, grace := pod.GetDeletionTimestamp().Time, pod.NestedInt64("metadata", "deletionGracePeriodSeconds")
	if listens, ok := stopsAfter(pod); ok {
		began := deadline.Add(-time.Duration(grace) * time.Second)
		deadline = earlier(deadline, began.Add(listens))
	}
	wait, uid := time.Until(deadline), pod.GetUID()
	known := k.stopping[key]
	switch {
	case known.uid != uid:
		k.stopping[key] = ending{uid: uid}
		k.trace.stopping(t.Namespace, t.Name, n.name, max(wait, 0))
	case known.over:
		return nil // what holds it now are finalizers
	}
	if wait > 0 {
		k.keys.AddAfter(key, wait)
		return nil
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
	k.trace.stopped(t.Namespace, t.Name, n.name)
	return nil
}

// ending is what has been done about the end of a pod.
type ending struct {
	uid  string
	over bool // its containers have ended, and the server was told
}

// stopsAfter is what a pod says of its containers. What is no duration is nothing.
func stopsAfter(pod *api.Unstructured) (time.Duration, bool) {
	text, ok := pod.GetAnnotations()[StopsAfter]
	if !ok {
		return 0, false
	}
	listens, err := time.ParseDuration(text)
	return max(listens, 0), err == nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// ignoreGone: that a pod has gone meanwhile is no failure. That another one has its name is found out by looking again.
func ignoreGone(err error) error {
	if api.IsNotFound(err) {
		return nil
	}
	return err
}

func keyOf(t registry.Target) store.Key { return store.Key{Namespace: t.Namespace, Name: t.Name} }

// releaseClaims lets claims go that are being deleted and that no pod uses, by taking away the finalizer that the server gave
// them. In a real cluster that is the work of a controller of its own; without anybody who does it no namespace with a claim in
// it could ever be emptied.
func (k *Kubelet) releaseClaims(ctx context.Context) {
	claims := target(k.config.Catalog, "", "v1", "persistentvolumeclaims")
	page, err := k.config.Registry.List(claims, api.ListOptions{})
	if err != nil {
		return // the next heartbeat tries again
	}
	for _, claim := range page.Items {
		if claim.Deleting && !k.used(claim.Key) {
			k.releaseClaim(ctx, claims, claim)
		}
	}
}

// used tells whether there is a pod that may still write to the claim: one that has not ended.
func (k *Kubelet) used(claim store.Key) bool {
	pods := k.pods
	pods.Namespace = claim.Namespace
	page, err := k.config.Registry.List(pods, api.ListOptions{FieldSelector: "status.phase!=Succeeded,status.phase!=Failed"})
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
	_, err := k.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		finalizers, _ := current.Nested("metadata", "finalizers").([]any)
		left := slices.DeleteFunc(slices.Clone(finalizers), func(finalizer any) bool { return finalizer == resources.FinalizerClaimProtection })
		if current.GetUID() != claim.UID || len(left) == len(finalizers) {
			return current, nil
		}
		return current, current.SetNested(left, "metadata", "finalizers")
	}, writeOptions("system:serviceaccount:kube-system:pvc-protection-controller"))
	if err != nil && !api.IsNotFound(err) {
		k.trace.failed(t.Namespace, t.Name, err)
	}
}
