package nsctl

import (
	"context"

	"orrery/restclient/api"
)

// dryRun is the deleter of a dry run, with any set of gears.
type dryRun struct{ config DeleterConfig }

// NewDryRun returns a deleter that reads what a namespace holds, reports it to Trace.WouldDelete, and writes nothing.
// Delete returns nil however much there is: another look would change nothing.
func NewDryRun(config DeleterConfig) Deleter { return dryRun{config.WithDefaults()} }

func (d dryRun) Delete(ctx context.Context, nsName string, seen ObservedDeletion) error {
	namespace, err := d.config.Namespaces.Get(ctx, nsName, api.GetOptions{})
	if err != nil {
		return IgnoreNotFound(WhileDoing("reading the namespace", err))
	}
	if namespace.DeletionTimestamp == nil || seen.IsOfAnother(namespace) {
		return nil
	}
	var updater ConditionUpdater
	resources, err := updater.ProcessDiscovery(d.config.Discovery.PreferredNamespacedResources(ctx, namespace.DeletionTimestamp.Time))
	d.config.Trace.Discovered(nsName, len(resources), err)
	counts, errs := make([]int, len(resources)), make([]error, len(resources))
	for i, resource := range resources {
		if resource.CanList {
			items, err := d.config.Content.List(ctx, resource.GVR, nsName)
			if counts[i] = len(items); err != nil {
				errs[i] = &ResourceError{Doing: "listing", Resource: resource.GVR, Err: err}
			}
		}
	}
	ForgiveVanished(ctx, d.config.Discovery, namespace.DeletionTimestamp.Time, resources, errs)
	for i, resource := range resources {
		d.config.Trace.WouldDelete(nsName, resource.GVR, counts[i], errs[i])
		updater.ProcessContent(resource.GVR, Remains{}, errs[i])
	}
	return updater.Err()
}
