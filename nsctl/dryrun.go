package nsctl

import (
	"context"
	"slices"
	"sync"

	"orrery/restclient/api"
)

// Found is how many objects a dry run finds of one type in one namespace.
type Found struct {
	ToDelete    int // the next pass would delete them, or a later one, when the namespace has no pods
	Terminating int // they terminate already: a finalizer holds them, or they end by themselves
}

// dryRun is the deleter of a dry run, with any set of gears.
type dryRun struct{ config DeleterConfig }

// NewDryRun returns a deleter that reads what a namespace holds, reports it to Trace.WouldDelete,
// and writes nothing. Delete returns nil even if content remains, because a retry would find the
// same.
func NewDryRun(config DeleterConfig) Deleter { return dryRun{config.WithDefaults()} }

func (d dryRun) Delete(ctx context.Context, nsName string, seen ObservedDeletion) error {
	namespace, err := d.config.Namespaces.Get(ctx, nsName, api.GetOptions{})
	if err != nil {
		return WhileDoing("reading the namespace", err)
	}
	if namespace.DeletionTimestamp == nil || seen.IsOfAnother(namespace) {
		return nil
	}
	if !slices.Contains(namespace.Spec.Finalizers, d.config.FinalizerToken) {
		d.config.Trace.NoToken(nsName, namespace.Spec.Finalizers)
		return nil
	}
	var mu sync.Mutex // guards found
	found := map[api.GroupVersionResource]Found{}
	looked := Look(ctx, d.config.Discovery, namespace.DeletionTimestamp.Time,
		func(ctx context.Context, resource DeletableResource) error {
			return d.config.Content.Pages(ctx, resource.GVR, nsName, func(page []*api.PartialObjectMetadata) error {
				mu.Lock()
				defer mu.Unlock()
				all := found[resource.GVR]
				for _, item := range page {
					if item.DeletionTimestamp != nil {
						all.Terminating++
					} else {
						all.ToDelete++
					}
				}
				found[resource.GVR] = all
				return nil
			})
		})
	d.config.Trace.Discovered(nsName, len(looked.Resources), looked.DiscoveryErr)
	for i, resource := range looked.Resources {
		d.config.Trace.WouldDelete(nsName, resource.GVR, found[resource.GVR], looked.Errs[i])
	}
	return looked.Err()
}
