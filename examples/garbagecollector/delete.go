package garbagecollector

import (
	"context"
	"errors"
	"time"

	"orrery/restclient/api"
)

// deletePass decides about one object: whether it has lost its owners, or its dependents if it waits for that.
func (c *Controller) deletePass(ctx context.Context, uid string) (after time.Duration, err error) {
	n, deletable := c.graph.look(uid)
	if !deletable {
		return 0, nil
	}
	if n.waiting() {
		return c.awaitDependents(ctx, n)
	}
	var solid, waiting int
	lost := map[string]bool{}
	for _, reference := range n.owners() {
		owner, err := c.askForOwner(ctx, n, reference)
		switch {
		case errors.Is(err, errUnknown):
			return 0, nil
		case err != nil:
			return 0, err
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
	case solid > 0: // what waits for this object is not to wait any more
		return 0, c.release(ctx, n, lost)
	case waiting > 0 && len(c.graph.dependents(uid)) > 0 || n.hasFinalizer(finalizerForeground):
		policy = api.DeletePropagationForeground
	case n.hasFinalizer(finalizerOrphan):
		policy = api.DeletePropagationOrphan
	}
	return 0, c.delete(ctx, n, policy)
}

// errUnknown says that an owner may exist although it cannot be asked for.
var errUnknown = errors.New("it is not known whether the owner exists")

// askForOwner asks the server for an owner of n; nil is the proof that it does not exist. The graph is no proof: a watch may be late or
// broken, the right to it may be missing, and what is deleted does not come back.
func (c *Controller) askForOwner(ctx context.Context, n node, reference api.OwnerReference) (*api.PartialObjectMetadata, error) {
	kind, ok := c.monitors.Find(reference.APIVersion, reference.Kind)
	if !ok {
		return nil, errUnknown // monitors queue the object when types appear
	}
	namespace := ""
	if kind.Namespaced {
		namespace = n.object.Namespace
	}
	place := placeOf(reference, namespace)
	owner, _ := c.graph.look(reference.UID)
	if owner.absentAt == place {
		return nil, nil
	}
	elsewhere := owner.object != nil && owner.resource.Namespaced && owner.object.Namespace != n.object.Namespace
	nowhere := kind.Namespaced && namespace == ""
	if hook := c.config.Trace.InvalidNamespace; hook != nil && (elsewhere || nowhere) {
		hook(n.reference(), reference)
	}
	if nowhere {
		return nil, errUnknown
	}
	found, err := c.config.Monitor.Heads(kind.GroupVersionResource, namespace).Get(ctx, reference.Name, api.GetOptions{})
	if err == nil && found.UID == reference.UID {
		return found, nil
	}
	if err == nil || isGone(err, reference.Name) {
		c.graph.setAbsent(reference.UID, place)
		return nil, nil
	}
	return nil, err
}

// isGone reports whether the server has no object of this name. If it does not have the type any more the answer is 404 as well, and
// says nothing of objects: they may be behind an aggregated API server that is not registered at the moment.
func isGone(err error, name string) bool {
	refused, ok := errors.AsType[*api.StatusError](err)
	return ok && api.IsNotFound(err) && refused.Status.Details != nil && refused.Status.Details.Name == name
}

// awaitDependents deletes the dependents of an object that waits for that, and lets it go when none is left that blocks it.
func (c *Controller) awaitDependents(ctx context.Context, n node) (after time.Duration, err error) {
	for _, dependent := range c.graph.dependents(n.uid) {
		if d, deletable := c.graph.look(dependent); deletable && !d.deleting() {
			c.attemptToDelete.Add(dependent)
		}
	}
	switch {
	case n.blocking == 0:
		return c.finish(ctx, n, finalizerForeground)
	case c.graph.waitsForItself(n.uid):
		return 0, c.unblock(ctx, n)
	}
	return 0, nil
}

// orphanPass makes the dependents of an object forget it, and then lets it go.
func (c *Controller) orphanPass(ctx context.Context, uid string) (after time.Duration, err error) {
	n, _ := c.graph.look(uid)
	if !n.orphaning() {
		return 0, nil
	}
	for _, dependent := range c.graph.dependents(uid) {
		if d, _ := c.graph.look(dependent); d.object != nil {
			err = errors.Join(err, c.release(ctx, d, map[string]bool{uid: true}))
		}
	}
	if err != nil {
		return 0, err
	}
	return c.finish(ctx, n, finalizerOrphan)
}

// finish removes a finalizer, but not before every informer has had the time to tell of dependents: one that was to be orphaned, and
// was not known, would be left without an owner, and so be deleted.
func (c *Controller) finish(ctx context.Context, n node, finalizer string) (after time.Duration, err error) {
	if early := c.config.Settle - time.Since(n.marked); early > 0 {
		return early, nil
	}
	if !c.monitors.Synced() { // a type has appeared
		return time.Second, nil
	}
	return 0, c.removeFinalizer(ctx, n, finalizer)
}
