package garbagecollector

import (
	"context"
	"encoding/json"
	"slices"

	"orrery/examples/monitor"
	"orrery/restclient/api"
)

// Every write names the UID and the resource version of the object that was decided about. If the
// object has changed since, for example has another owner now, the server answers with a conflict
// and the pass is repeated. If the object is gone, the write has succeeded.

func (c *Controller) delete(ctx context.Context, n node, policy api.DeletePropagation) error {
	err := c.heads(n).Delete(ctx, n.object.Name, api.DeleteOptions{
		Preconditions:     &api.Preconditions{UID: &n.object.UID, ResourceVersion: &n.object.ResourceVersion},
		PropagationPolicy: policy,
	})
	return c.wrote(n, "deleted ("+string(policy)+")", err)
}

// release removes the references to lost owners.
func (c *Controller) release(ctx context.Context, n node, lost map[string]bool) error {
	kept := without(n.owners(), func(r api.OwnerReference) bool { return lost[r.UID] })
	if len(kept) == len(n.owners()) {
		return nil
	}
	return c.patch(ctx, n, "ownerReferences", kept, "released from owners")
}

// unblock clears blockOwnerDeletion in all references of an object.
func (c *Controller) unblock(ctx context.Context, n node) error {
	references := slices.Clone(n.owners())
	for i := range references {
		references[i].BlockOwnerDeletion = nil
	}
	return c.patch(ctx, n, "ownerReferences", references, "blocks its owners no more")
}

// without returns a copy of list without the unwanted items. If none is left it returns nil, which
// removes the field.
func without[T any](list []T, unwanted func(T) bool) (kept []T) {
	for _, one := range list {
		if !unwanted(one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// patch sets a field of the metadata of an object.
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
