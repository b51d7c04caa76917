package garbagecollector

import (
	"context"
	"slices"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// dependent is an object that names the owner which is being looked at.
type dependent struct {
	item   item
	target registry.Target
	object *store.Object
}

// dependents reads from the server who names an object as its owner. The graph would be faster, and a moment behind: an
// owner that orphans must not miss the dependent that was made just before. An owner in a namespace has its dependents there.
func (c *Collector) dependents(owner *store.Object) ([]dependent, error) {
	var found []dependent
	seen := map[string]bool{}
	for _, d := range c.config.Catalog.All() {
		if seen[d.Prefix] || owner.Key.Namespace != "" && !d.Namespaced || !d.HasVerb("list") {
			continue
		}
		seen[d.Prefix] = true
		t := registry.Target{Definition: d, Version: d.Version, Namespace: owner.Key.Namespace}
		page, err := c.config.Registry.List(t, api.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, object := range page.Items {
			if slices.Contains(object.Owners, owner.UID) {
				one := t
				one.Namespace, one.Name = object.Key.Namespace, object.Key.Name
				found = append(found, dependent{item{resourceOf(t), object.Key}, one, object})
			}
		}
	}
	return found, nil
}

// orphan has the dependents forget their owner, and lets it go.
func (c *Collector) orphan(ctx context.Context, t registry.Target, owner *store.Object) error {
	dependents, err := c.dependents(owner)
	if err != nil {
		return err
	}
	for _, d := range dependents {
		if err := c.release(ctx, d.target, d.object, map[string]bool{owner.UID: true}); err != nil {
			return err
		}
	}
	return c.finish(ctx, t, owner, registry.FinalizerOrphan)
}

// awaitDependents has the dependents of an owner looked at that is being deleted in the foreground, and lets it go when none
// is left that holds it.
func (c *Collector) awaitDependents(ctx context.Context, t registry.Target, owner *store.Object) error {
	dependents, err := c.dependents(owner)
	if err != nil {
		return err
	}
	held := false
	for _, d := range dependents {
		held = held || slices.ContainsFunc(referencesOf(d.object.Decode()), func(r reference) bool {
			return r.uid == owner.UID && r.blocking
		})
		if !d.object.Deleting {
			c.items.Add(d.item)
		}
	}
	if held {
		return nil // the going of a dependent that holds it brings us back
	}
	return c.finish(ctx, t, owner, registry.FinalizerForeground)
}

// finish takes a finalizer away.
func (c *Collector) finish(ctx context.Context, t registry.Target, owner *store.Object, finalizer string) error {
	err := c.patch(ctx, t, owner.UID, func(o *api.Unstructured) bool {
		var left []any
		for _, one := range o.GetFinalizers() {
			if one != finalizer {
				left = append(left, one)
			}
		}
		if left == nil {
			o.RemoveNested("metadata", "finalizers")
			return true
		}
		return o.SetNested(left, "metadata", "finalizers") == nil
	})
	if err == nil {
		c.trace.finished(t, finalizer)
	}
	return err
}
