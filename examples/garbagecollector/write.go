package garbagecollector

import (
	"context"
	"encoding/json"

	"orrery/examples/monitor"
	"orrery/restclient/api"
)

// Every write is about an object in the very state that was decided about, by UID and resource version. If it has changed since, if it
// has got another owner for one, the server answers with a conflict and the pass is repeated. An object that is gone is no failure.

func (c *Controller) delete(ctx context.Context, n node, policy api.DeletePropagation) error {
	err := c.heads(n).Delete(ctx, n.object.Name, api.DeleteOptions{
		Preconditions:     &api.Preconditions{UID: &n.object.UID, ResourceVersion: &n.object.ResourceVersion},
		PropagationPolicy: policy,
	})
	return c.wrote(n, "deleted ("+string(policy)+")", err)
}

// release makes an object forget owners.
func (c *Controller) release(ctx context.Context, n node, lost map[string]bool) error {
	kept := without(n.owners(), func(r api.OwnerReference) bool { return lost[r.UID] })
	if len(kept) == len(n.owners()) {
		return nil
	}
	return c.patch(ctx, n, "ownerReferences", kept, "released from owners")
}

// unblock makes an object block none of its owners.
func (c *Controller) unblock(ctx context.Context, n node) error {
	references := without(n.owners(), func(api.OwnerReference) bool { return false })
	for i := range references {
		references[i].BlockOwnerDeletion = nil
	}
	return c.patch(ctx, n, "ownerReferences", references, "blocks its owners no more")
}

func (c *Controller) removeFinalizer(ctx context.Context, n node, finalizer string) error {
	kept := without(n.object.Finalizers, func(one string) bool { return one == finalizer })
	return c.patch(ctx, n, "finalizers", kept, "finalizer "+finalizer+" removed")
}

// without returns a copy of a list without some of it; nil, which removes the field, if nothing is left.
func without[T any](list []T, unwanted func(T) bool) (kept []T) {
	for _, one := range list {
		if !unwanted(one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// patch sets a field of the head of an object.
func (c *Controller) patch(ctx context.Context, n node, field string, value any, what string) error {
	head := map[string]any{"uid": n.object.UID, "resourceVersion": n.object.ResourceVersion, field: value}
	patch, err := json.Marshal(map[string]any{"metadata": head})
	if err == nil {
		_, err = c.heads(n).Patch(ctx, n.object.Name, api.MergePatchType, patch, api.UpdateOptions{})
	}
	return c.wrote(n, what, err)
}

func (c *Controller) heads(n node) monitor.Heads {
	return c.config.Monitor.Heads(n.resource.GroupVersionResource, n.object.Namespace)
}

func (c *Controller) wrote(n node, what string, err error) error {
	if hook := c.config.Trace.Wrote; hook != nil && err == nil {
		hook(n.reference(), what)
	}
	if api.IsNotFound(err) {
		return nil
	}
	return err
}
