package nsctl

import (
	"context"
	"sync"

	"orrery/restclient/api"
)

// dryRun is the deleter of a dry run, with any set of gears.
type dryRun struct{ config DeleterConfig }

// NewDryRun returns a deleter that reads what a namespace holds, reports it to Trace.WouldDelete,
// and writes nothing. Delete returns nil even if content remains, because a retry would find the
// same.
func NewDryRun(config DeleterConfig) Deleter { return dryRun{config.WithDefaults()} }

func (d dryRun) Delete(ctx context.Context, nsName string, seen ObservedDeletion) error {
	namespace, err := d.config.Namespaces.Get(ctx, nsName, api.GetOptions{})
	if err != nil {
		return IgnoreNotFound(WhileDoing("reading the namespace", err))
	}
	if namespace.DeletionTimestamp == nil || seen.IsOfAnother(namespace) {
		return nil
	}
	var mu sync.Mutex // guards counts
	counts := map[api.GroupVersionResource]int{}
	looked := Look(ctx, d.config.Discovery, namespace.DeletionTimestamp.Time, func(ctx context.Context, resource DeletableResource) error {
		items, err := d.config.Content.List(ctx, resource.GVR, nsName)
		mu.Lock()
		defer mu.Unlock()
		counts[resource.GVR] = len(items)
		return err
	})
	d.config.Trace.Discovered(nsName, len(looked.Resources), looked.DiscoveryErr)
	for i, resource := range looked.Resources {
		d.config.Trace.WouldDelete(nsName, resource.GVR, counts[resource.GVR], looked.Errs[i])
	}
	return looked.Err()
}
