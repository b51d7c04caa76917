package nsctl

import (
	"context"
	"slices"
	"sync"

	"orrery/nsctl/internal/shared"
	"orrery/restclient/api"
)

// Found is what a dry run finds of one type in one namespace. Each object is counted once.
type Found struct {
	ToDelete   int // the next pass would delete it
	BehindPods int // a pass would delete it once the namespace has no pods
	Held       int // it already terminates, and a finalizer holds it
	Ending     int // it already terminates, and ends by itself, as a pod does in its grace period
	Names      []string
}

// Total returns the number of objects.
func (f Found) Total() int { return len(f.Names) }

// foundIn counts objects. behindPods reports whether the namespace has pods and they are others.
func foundIn(items []*api.PartialObjectMetadata, behindPods bool) Found {
	var found Found
	for _, item := range items {
		found.Names = append(found.Names, item.Name)
		switch {
		case item.DeletionTimestamp != nil && len(item.Finalizers) > 0:
			found.Held++
		case item.DeletionTimestamp != nil:
			found.Ending++
		case behindPods:
			found.BehindPods++
		default:
			found.ToDelete++
		}
	}
	return found
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
		return shared.IgnoreNotFound(shared.WhileDoing("reading the namespace", err))
	}
	if namespace.DeletionTimestamp == nil || seen.IsOfAnother(namespace) {
		return nil
	}
	if !slices.Contains(namespace.Spec.Finalizers, d.config.FinalizerToken) {
		d.config.Trace.NoToken(nsName, namespace.Spec.Finalizers)
		return nil
	}
	var mu sync.Mutex // guards content
	content := map[api.GroupVersionResource][]*api.PartialObjectMetadata{}
	looked := Look(ctx, d.config.Discovery, namespace.DeletionTimestamp.Time,
		func(ctx context.Context, resource DeletableResource) error {
			items, err := d.config.Content.List(ctx, resource.GVR, nsName)
			mu.Lock()
			defer mu.Unlock()
			content[resource.GVR] = items
			return err
		})
	d.config.Trace.Discovered(nsName, len(looked.Resources), looked.DiscoveryErr)
	podsRemain := len(content[api.PodsResource]) > 0
	for i, resource := range looked.Resources {
		found := foundIn(content[resource.GVR], podsRemain && !resource.IsPods())
		d.config.Trace.WouldDelete(nsName, resource.GVR, found, looked.Errs[i])
	}
	return looked.Err()
}
