package garbagecollector

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"orrery/restclient/api"
)

// pass takes the next step for one object.
func (c *Controller) pass(ctx context.Context, uid string) (after time.Duration, err error) {
	n, pending := c.graph.look(uid)
	switch {
	case n.orphaning():
		return c.orphanPass(ctx, n)
	case n.waiting():
		return c.awaitDependents(ctx, n)
	case pending:
		return 0, c.deletePass(ctx, n)
	}
	return 0, nil
}

// deletePass deletes an object if all of its owners are gone.
func (c *Controller) deletePass(ctx context.Context, n node) error {
	var solid, waiting int
	lost := map[string]bool{}
	for _, reference := range n.owners() {
		owner, known, err := c.askForOwner(ctx, n, reference)
		switch {
		case err != nil || !known:
			return err
		case owner == nil:
			lost[reference.UID] = true
		case (&node{object: owner}).waiting():
			lost[reference.UID] = true
			waiting++
		default:
			solid++
		}
	}
	policy := api.DeletePropagationBackground
	switch {
	case solid > 0: // an owner that waits for this object must not wait any longer
		return c.release(ctx, n, lost)
	case waiting > 0 && len(c.graph.dependents(n.uid)) > 0 || n.hasFinalizer(finalizerForeground):
		policy = api.DeletePropagationForeground
	case n.hasFinalizer(finalizerOrphan):
		policy = api.DeletePropagationOrphan
	}
	return c.delete(ctx, n, policy)
}

// askForOwner asks the server for an owner of n. If it does not exist, owner is nil. If the server
// cannot be asked for it, known is false. The graph proves nothing: a watch may be late, broken or
// forbidden, and a deletion cannot be undone.
func (c *Controller) askForOwner(ctx context.Context, n node,
	reference api.OwnerReference) (owner *api.PartialObjectMetadata, known bool, err error) {
	kind, ok := c.monitors.find(reference.APIVersion, reference.Kind)
	if !ok {
		return nil, false, nil // monitors queue the object when types appear
	}
	namespace := ""
	if kind.Namespaced {
		namespace = n.object.Namespace
	}
	place := placeOf(reference, namespace)
	seen, _ := c.graph.look(reference.UID)
	if seen.absentAt == place {
		return nil, true, nil
	}
	elsewhere := seen.object != nil && seen.resource.Namespaced && seen.object.Namespace != n.object.Namespace
	nowhere := kind.Namespaced && namespace == ""
	if hook := c.config.Trace.InvalidNamespace; hook != nil && (elsewhere || nowhere) {
		hook(n.reference(), reference)
	}
	if nowhere {
		return nil, false, nil
	}
	found, err := c.config.Heads(kind.GroupVersionResource, namespace).Get(ctx, reference.Name, api.GetOptions{})
	if err == nil && found.UID == reference.UID {
		return found, true, nil
	}
	if err == nil || isGone(err, reference.Name) {
		c.graph.setAbsent(reference.UID, place)
		return nil, true, nil
	}
	return nil, false, err
}

// isGone reports whether err says that the server has no object of this name. A 404 about the whole
// type says nothing about its objects: they may be behind an aggregated API server that is not
// registered at the moment. It comes as text or without a name; the client gives a text the name of
// the object that was asked for.
func isGone(err error, name string) bool {
	refused, ok := errors.AsType[*api.StatusError](err)
	return ok && api.IsNotFound(err) && !refused.HasCause(api.CauseUnexpectedServerResponse) &&
		refused.Status.Details != nil && refused.Status.Details.Name == name
}

// awaitDependents removes the finalizer of a waiting object when no dependent that blocks is left.
// The graph has queued the dependents.
func (c *Controller) awaitDependents(ctx context.Context, n node) (after time.Duration, err error) {
	switch {
	case n.blocking == 0:
		return c.finish(ctx, n, finalizerForeground)
	case c.graph.waitsForItself(n.uid):
		return 0, c.unblock(ctx, n)
	}
	return 0, nil
}

// orphanPass removes an object from the references of its dependents, and then its finalizer.
func (c *Controller) orphanPass(ctx context.Context, n node) (after time.Duration, err error) {
	for _, dependent := range c.graph.dependents(n.uid) {
		err = errors.Join(err, c.release(ctx, dependent, map[string]bool{n.uid: true}))
	}
	if err != nil {
		return 0, err
	}
	return c.finish(ctx, n, finalizerOrphan)
}

// settle is the shortest time for which an object that is deleted with Foreground or Orphan keeps
// its finalizer.
const settle = 500 * time.Millisecond

// finish removes a finalizer, but not before settle is over. The informers of different types are
// not in step: a dependent whose event is still on its way would lose its owner without being
// orphaned, and so be deleted.
func (c *Controller) finish(ctx context.Context, n node, finalizer string) (after time.Duration, err error) {
	if early := settle - time.Since(n.marked); early > 0 {
		return early, nil
	}
	if !c.monitors.hasSynced() { // a type has appeared
		return time.Second, nil
	}
	others := without(n.object.Finalizers, func(one string) bool { return one == finalizer })
	return 0, c.patch(ctx, n, "finalizers", others, "finalizer "+finalizer+" removed")
}

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

func (c *Controller) heads(n node) Heads {
	return c.config.Heads(n.resource.GroupVersionResource, n.object.Namespace)
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
