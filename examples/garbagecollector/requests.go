package garbagecollector

import (
	"context"
	"encoding/json"
	"slices"

	"orrery/restclient/api"
)

// The writes. Each is about an object in the very state that was decided about, by UID and resource version: if it has changed
// meanwhile, if it has got another owner for one, the server answers with a conflict and the pass is repeated.

// delete deletes an object.
func (c *Controller) delete(ctx context.Context, s sight, policy api.DeletePropagation) error {
	err := c.heads(s).Delete(ctx, s.object.Name, api.DeleteOptions{
		Preconditions:     &api.Preconditions{UID: &s.object.UID, ResourceVersion: &s.object.ResourceVersion},
		PropagationPolicy: policy,
	})
	if err == nil {
		c.config.Trace.Deleted(s.reference(), policy)
	}
	return unlessGone(err)
}

// release makes an object forget owners.
func (c *Controller) release(ctx context.Context, s sight, lost map[string]bool) error {
	kept := without(s.object.OwnerReferences, func(r api.OwnerReference) bool { return lost[r.UID] })
	if len(kept) == len(s.object.OwnerReferences) {
		return nil
	}
	err := c.patch(ctx, s, map[string]any{"ownerReferences": kept})
	if err == nil {
		c.config.Trace.Released(s.reference())
	}
	return unlessGone(err)
}

// unblock makes an object block none of its owners.
func (c *Controller) unblock(ctx context.Context, s sight) error {
	references := slices.Clone(s.object.OwnerReferences)
	for i := range references {
		references[i].BlockOwnerDeletion = nil
	}
	return unlessGone(c.patch(ctx, s, map[string]any{"ownerReferences": references}))
}

// removeFinalizer removes a finalizer from an object.
func (c *Controller) removeFinalizer(ctx context.Context, s sight, finalizer string) error {
	kept := without(s.object.Finalizers, func(one string) bool { return one == finalizer })
	err := c.patch(ctx, s, map[string]any{"finalizers": kept})
	if err == nil {
		c.config.Trace.Finished(s.reference(), finalizer)
	}
	return unlessGone(err)
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

// patch merges fields into the head of an object.
func (c *Controller) patch(ctx context.Context, s sight, head map[string]any) error {
	head["uid"], head["resourceVersion"] = s.object.UID, s.object.ResourceVersion
	patch, err := json.Marshal(map[string]any{"metadata": head})
	if err != nil {
		return err
	}
	_, err = c.heads(s).Patch(ctx, s.object.Name, api.MergePatchType, patch, api.UpdateOptions{})
	return err
}

func (c *Controller) heads(s sight) Heads {
	return c.config.Heads(s.resource.GroupVersionResource, s.object.Namespace)
}

// unlessGone drops the error that says that there is no such object any more.
func unlessGone(err error) error {
	if api.IsNotFound(err) {
		return nil
	}
	return err
}

// reference returns what Events and hooks call the object.
func (s sight) reference() api.ObjectReference {
	return api.ObjectReference{
		APIVersion: s.resource.GroupVersion().String(), Kind: s.resource.kind,
		Namespace: s.object.Namespace, Name: s.object.Name, UID: s.uid, ResourceVersion: s.object.ResourceVersion,
	}
}
