package kubelet

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/registry"
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
