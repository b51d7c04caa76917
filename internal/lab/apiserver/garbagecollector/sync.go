package garbagecollector

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// errNotServedYet says that a custom resource is defined and that its objects cannot be watched yet.
var errNotServedYet = errors.New("garbagecollector: the new resource is not served yet")

// sync does what is to be done with an object as it is now.
func (c *Collector) sync(ctx context.Context, i item, t registry.Target) error {
	stored, err := c.config.Registry.Get(t, api.GetOptions{})
	if api.IsNotFound(err) {
		c.enqueueOwners(i, c.graph.put(i, nil), nil)
		return nil
	}
	if err != nil {
		return err
	}
	if i.resource == customResources {
		if err := c.watchNew(ctx, stored); err != nil {
			return err
		}
	}
	o := stored.Decode()
	switch finalizers := o.GetFinalizers(); {
	case stored.Deleting && slices.Contains(finalizers, registry.FinalizerOrphan):
		return c.orphan(ctx, t, stored)
	case stored.Deleting && slices.Contains(finalizers, registry.FinalizerForeground):
		return c.awaitDependents(ctx, t, stored)
	case stored.Deleting || len(stored.Owners) == 0:
		return nil // it goes already, or belongs to nobody
	}
	return c.judge(ctx, i, t, stored, o)
}

// watchNew makes sure that the objects of a custom resource are watched.
func (c *Collector) watchNew(ctx context.Context, definition *store.Object) error {
	c.watchAll(ctx)
	spec := definition.Decode()
	group, plural := spec.NestedString("spec", "group"), spec.NestedString("spec", "names", "plural")
	for _, d := range c.config.Catalog.All() {
		if d.Group == group && d.Plural == plural {
			return nil
		}
	}
	if definition.Deleting {
		return nil
	}
	return errNotServedYet
}

// owners is how an object stands with the owners that it names.
type owners struct {
	solid   int             // they exist
	absent  map[string]bool // by UID: they do not
	waiting map[string]bool // by UID: they are being deleted in the foreground and wait for their dependents
	unknown bool            // of one or more it cannot be said
}

// judge decides about an object by its owners.
func (c *Collector) judge(ctx context.Context, i item, t registry.Target, stored *store.Object, o *api.Unstructured) error {
	found, err := c.classify(i, o)
	switch {
	case err != nil:
		return err
	case found.unknown:
		return nil // nobody is deleted on suspicion
	case found.solid > 0:
		return c.release(ctx, t, stored, merge(found.absent, found.waiting))
	case len(found.absent)+len(found.waiting) == 0:
		return nil
	}
	policy := api.DeletePropagationBackground
	switch {
	case len(found.waiting) > 0:
		dependents, err := c.dependents(stored)
		if err != nil {
			return err
		}
		if len(dependents) > 0 {
			policy = api.DeletePropagationForeground
			if anyWaits(dependents) {
				// A dependent that waits for its own dependents, in a circle perhaps, must not be waited for.
				if err := c.patch(ctx, t, stored.UID, unblock); err != nil {
					return err
				}
			}
		}
	case slices.Contains(o.GetFinalizers(), registry.FinalizerOrphan):
		policy = api.DeletePropagationOrphan
	case slices.Contains(o.GetFinalizers(), registry.FinalizerForeground):
		policy = api.DeletePropagationForeground
	}
	return c.delete(ctx, t, stored, policy)
}

// classify looks at every owner that an object names.
func (c *Collector) classify(i item, o *api.Unstructured) (owners, error) {
	found := owners{absent: map[string]bool{}, waiting: map[string]bool{}}
	for _, r := range referencesOf(o) {
		place, ok := c.ownerOf(i, r)
		if !ok {
			found.unknown = true
			continue
		}
		t, ok := c.target(place)
		if !ok {
			found.unknown = true
			continue
		}
		owner, err := c.config.Registry.Get(t, api.GetOptions{})
		switch {
		case api.IsNotFound(err), err == nil && owner.UID != r.uid:
			found.absent[r.uid] = true
		case err != nil:
			return owners{}, err
		case owner.Deleting && slices.Contains(owner.Decode().GetFinalizers(), registry.FinalizerForeground):
			found.waiting[r.uid] = true
		default:
			found.solid++
		}
	}
	return found, nil
}

func merge(a, b map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, set := range []map[string]bool{a, b} {
		for uid := range set {
			all[uid] = true
		}
	}
	return all
}

// anyWaits tells whether one of the objects is being deleted in the foreground.
func anyWaits(dependents []dependent) bool {
	return slices.ContainsFunc(dependents, func(d dependent) bool {
		return d.object.Deleting && slices.Contains(d.object.Decode().GetFinalizers(), registry.FinalizerForeground)
	})
}

// release takes references out of an object that has other owners.
func (c *Collector) release(ctx context.Context, t registry.Target, stored *store.Object, uids map[string]bool) error {
	if len(uids) == 0 {
		return nil
	}
	err := c.patch(ctx, t, stored.UID, func(o *api.Unstructured) bool { return removeReferences(o, uids) })
	if err == nil {
		c.trace.released(t)
	}
	return err
}

// delete deletes the object in the state that was looked at.
func (c *Collector) delete(ctx context.Context, t registry.Target, stored *store.Object, policy api.DeletePropagation) error {
	version := strconv.FormatUint(stored.Version, 10)
	_, _, err := c.config.Registry.Delete(ctx, t, api.DeleteOptions{
		Preconditions:     &api.Preconditions{UID: &stored.UID, ResourceVersion: &version},
		PropagationPolicy: policy,
	}, registry.WriteOptions{User: user})
	if api.IsNotFound(err) {
		return nil
	}
	if err == nil {
		c.trace.deleted(t, policy)
	}
	return err
}

// patch changes an object with a UID. Nothing happens to another one, or if change says that there is nothing to change.
func (c *Collector) patch(ctx context.Context, t registry.Target, uid string, change func(*api.Unstructured) bool) error {
	_, err := c.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		if current.GetUID() == uid {
			change(current)
		}
		return current, nil
	}, registry.WriteOptions{User: user})
	if api.IsNotFound(err) {
		return nil
	}
	return err
}
