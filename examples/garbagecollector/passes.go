package garbagecollector

import (
	"context"
	"errors"
	"slices"
	"time"

	"orrery/restclient/api"
)

// deletePass decides about one object: whether it has lost its owners, or its dependents while it waits for that.
func (c *Controller) deletePass(ctx context.Context, uid string) (after time.Duration, err error) {
	s, ok := c.graph.look(uid)
	switch {
	case !ok || s.owned && !waiting(s.object):
		return 0, nil
	case waiting(s.object):
		return c.awaitDependents(ctx, s)
	case s.object.DeletionTimestamp != nil:
		return 0, nil // it goes already
	}
	owners, err := c.askForOwners(ctx, s)
	switch {
	case err != nil || owners.unknown:
		return 0, err
	case owners.solid > 0:
		return 0, c.release(ctx, s, owners.lost)
	case owners.waiting && s.depended:
		return 0, c.delete(ctx, s, api.DeletePropagationForeground)
	case slices.Contains(s.object.Finalizers, finalizerOrphan):
		return 0, c.delete(ctx, s, api.DeletePropagationOrphan)
	case slices.Contains(s.object.Finalizers, finalizerForeground):
		return 0, c.delete(ctx, s, api.DeletePropagationForeground)
	}
	return 0, c.delete(ctx, s, api.DeletePropagationBackground)
}

// owners is how things stand with the owners that an object names.
type owners struct {
	solid   int             // so many exist
	lost    map[string]bool // by UID: these do not, or wait for their dependents to be deleted
	waiting bool            // one waits
	unknown bool            // of one nothing can be said
}

// askForOwners asks the server for every owner. The graph is not asked: that an informer has not told of an object, or has told that it
// is gone, is no proof. A watch may be late, or broken, or the right to it missing, and what is deleted does not come back.
func (c *Controller) askForOwners(ctx context.Context, s sight) (owners, error) {
	found := owners{lost: map[string]bool{}}
	for _, reference := range s.object.OwnerReferences {
		owner, known, err := c.askForOwner(ctx, s, reference)
		switch {
		case err != nil:
			return owners{}, err
		case !known:
			found.unknown = true
		case owner == nil:
			found.lost[reference.UID] = true
		case waiting(owner):
			found.lost[reference.UID], found.waiting = true, true
		default:
			found.solid++
		}
	}
	return found, nil
}

// askForOwner asks the server for an owner. nil is the proof that it does not exist; known is false if there is no proof of
// anything.
func (c *Controller) askForOwner(ctx context.Context, s sight, reference api.OwnerReference) (owner *api.PartialObjectMetadata, known bool, err error) {
	place := placeOf(reference, s.object.Namespace)
	if c.graph.isAbsent(reference.UID, place) {
		return nil, true, nil
	}
	kind, ok := c.monitors.find(reference.APIVersion, reference.Kind)
	if !ok {
		return nil, false, nil // a type that may come, or come back: monitors look again then
	}
	namespace := ""
	if kind.namespaced {
		namespace = s.object.Namespace
		if c.graph.elsewhere(reference.UID, namespace) || namespace == "" {
			c.config.Trace.InvalidNamespace(s.reference(), reference)
		}
		if namespace == "" {
			return nil, false, nil
		}
	}
	owner, err = c.config.Heads(kind.GroupVersionResource, namespace).Get(ctx, reference.Name, api.GetOptions{})
	switch {
	case err == nil && owner.UID == reference.UID:
		return owner, true, nil
	case err == nil || isGone(err, reference.Name):
		c.graph.setAbsent(reference.UID, place)
		return nil, true, nil
	}
	return nil, false, err
}

// isGone reports whether the server has no object of this name. If it has no such type, the answer is 404 as well, and says nothing
// of objects: they may be behind an aggregated API server that is not registered at the moment.
func isGone(err error, name string) bool {
	refused, ok := errors.AsType[*api.StatusError](err)
	return ok && api.IsNotFound(err) && refused.Status.Details != nil && refused.Status.Details.Name == name
}

// awaitDependents deletes the dependents of an object that waits for that, and lets it go when none is left that blocks it.
func (c *Controller) awaitDependents(ctx context.Context, s sight) (after time.Duration, err error) {
	if s.blocking == 0 {
		c.graph.queueDependents(s.uid)
		return c.finish(ctx, s, finalizerForeground)
	}
	c.graph.queueDependents(s.uid)
	if c.graph.waitsForItself(s.uid) {
		return 0, c.unblock(ctx, s)
	}
	return 0, nil
}

// orphanPass makes the dependents of an object forget it, and then lets it go.
func (c *Controller) orphanPass(ctx context.Context, uid string) (after time.Duration, err error) {
	s, ok := c.graph.look(uid)
	if !ok || !orphaning(s.object) {
		return 0, nil
	}
	for _, dependent := range c.graph.dependentsOf(uid) {
		if d, ok := c.graph.look(dependent); ok {
			err = errors.Join(err, c.release(ctx, d, map[string]bool{uid: true}))
		}
	}
	if err != nil {
		return 0, err
	}
	return c.finish(ctx, s, finalizerOrphan)
}

// finish removes a finalizer, but not before all informers have had the time to tell of dependents. A finalizer that goes too early
// would leave a dependent that was to be orphaned without an owner, and so to be deleted.
func (c *Controller) finish(ctx context.Context, s sight, finalizer string) (after time.Duration, err error) {
	if early := c.config.Settle - time.Since(s.marked); early > 0 {
		return early, nil
	}
	if !c.monitors.synced() { // a type has appeared
		return time.Second, nil
	}
	return 0, c.removeFinalizer(ctx, s, finalizer)
}
