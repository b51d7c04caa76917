package nsctl

import (
	"context"
	"time"

	"orrery/restclient/api"
)

// finalizerEstimateSeconds is the time that an object's finalizers are given before it is worth looking again,
// for lack of anything better to go by.
const finalizerEstimateSeconds = 15

// remains is what one resource type still has in the namespace after it was told to go.
type remains struct {
	items      int
	finalizers map[string]int
	// estimate is the number of seconds that the items are expected to need; 0 if nothing is left.
	estimate int64
}

// emptyCollection deletes everything of one type and reports what is left.
//
// The answer to deleting a collection lists what the server found by a consistent read. Nothing can be created
// in a terminating namespace, so an empty list proves that the type is empty, and one request was enough.
func (d *Deleter) emptyCollection(ctx context.Context, resource deletableResource, namespace string) (remains, error) {
	empty, err := d.deleteCollection(ctx, resource, namespace)
	if err != nil || empty {
		return remains{}, err
	}
	return d.verifyEmpty(ctx, resource, namespace)
}

// notServed tells whether a type that discovery has listed was answered as if it did not exist, or had another verb.
func notServed(err error) bool { return api.IsNotFound(err) || api.IsMethodNotAllowed(err) }

// deleteCollection asks for everything to be deleted, in one request where the server has the verb. It tells
// whether the answer already proves that there is nothing.
func (d *Deleter) deleteCollection(ctx context.Context, resource deletableResource, namespace string) (empty bool, err error) {
	if resource.canDeleteCollection {
		found, listed, err := d.content.DeleteCollection(ctx, resource.gvr, namespace)
		switch {
		case err == nil:
			return listed && len(found) == 0, nil
		case notServed(err) && resource.canList:
			// Discovery and the server disagree: the type has gone or has changed its verbs since. Listing tells.
			d.discovery.Invalidate()
		default:
			return false, &ResourceError{"deleting the collection", resource.gvr, err}
		}
	}
	return d.deleteEachItem(ctx, resource, namespace)
}

// deleteEachItem is for types that cannot be deleted as a collection. A type that cannot be listed either has
// nothing that could be named, and counts as empty (as in the original).
func (d *Deleter) deleteEachItem(ctx context.Context, resource deletableResource, namespace string) (empty bool, err error) {
	items, err := d.list(ctx, resource, namespace)
	if err != nil {
		return false, err
	}
	for _, item := range items {
		err := d.content.Delete(ctx, resource.gvr, namespace, item.GetName())
		if err != nil && !notServed(err) {
			return false, &ResourceError{"deleting " + item.GetName(), resource.gvr, err}
		}
	}
	return len(items) == 0, nil
}

// list returns what is there of one type; nothing for a type that has no list verb.
func (d *Deleter) list(ctx context.Context, resource deletableResource, namespace string) ([]*api.PartialObjectMetadata, error) {
	if !resource.canList {
		return nil, nil
	}
	items, err := d.content.List(ctx, resource.gvr, namespace)
	if err != nil {
		return nil, &ResourceError{"listing", resource.gvr, err}
	}
	return items, nil
}

// verifyEmpty looks at what is left of one type. One that cannot be listed is told once more to go: the answer says what
// it still found. If that says nothing either, nobody can know, and the type counts as empty (as in the original).
func (d *Deleter) verifyEmpty(ctx context.Context, resource deletableResource, namespace string) (remains, error) {
	look := d.list
	if !resource.canList && resource.canDeleteCollection {
		look = d.deleteAgain
	}
	items, err := look(ctx, resource, namespace)
	if err != nil {
		return remains{}, err
	}
	left := countRemains(items, 0)
	return left, left.check(namespace, resource.gvr)
}

func (d *Deleter) deleteAgain(ctx context.Context, resource deletableResource, namespace string) ([]*api.PartialObjectMetadata, error) {
	found, _, err := d.content.DeleteCollection(ctx, resource.gvr, namespace)
	if err != nil {
		return nil, &ResourceError{"deleting the collection", resource.gvr, err}
	}
	return found, nil
}

// emptyPods is emptyCollection for pods: what is left of them tells how long it may take.
func (d *Deleter) emptyPods(ctx context.Context, resource deletableResource, namespace *api.Namespace) (remains, error) {
	empty, err := d.deleteCollection(ctx, resource, namespace.Name)
	if err != nil || empty {
		return remains{}, err
	}
	pods, err := d.content.ListPods(ctx, namespace.Name)
	if err != nil {
		return remains{}, &ResourceError{"listing", resource.gvr, err}
	}
	left := countRemains(pods, podsEstimate(pods, namespace.DeletionTimestamp, time.Now()))
	return left, left.check(namespace.Name, resource.gvr)
}

// podsEstimate is the longest grace period, in seconds, of the pods that still run. It is 0 once that much time
// has passed since the namespace was deleted: then the pods are late and the period says nothing any more.
func podsEstimate(pods []*api.Pod, deletedAt *api.Time, now time.Time) int64 {
	var estimate int64
	for _, pod := range pods {
		ended := pod.Status.Phase == api.PodSucceeded || pod.Status.Phase == api.PodFailed
		if grace := pod.Spec.TerminationGracePeriodSeconds; !ended && grace != nil {
			estimate = max(estimate, *grace)
		}
	}
	if deletedAt != nil && now.Sub(deletedAt.Time) >= time.Duration(estimate)*time.Second {
		return 0
	}
	return estimate
}

// countRemains counts items and their finalizers. An estimate of 0 becomes the finalizers' if there are any.
func countRemains[T interface{ GetFinalizers() []string }](items []T, estimate int64) remains {
	left := remains{items: len(items), estimate: estimate, finalizers: map[string]int{}}
	for _, item := range items {
		for _, finalizer := range item.GetFinalizers() {
			left.finalizers[finalizer]++
		}
	}
	if left.items > 0 && left.estimate == 0 && len(left.finalizers) > 0 {
		left.estimate = finalizerEstimateSeconds
	}
	return left
}

// check fails when something is left and nothing explains it: no time that it may take and no finalizer.
func (r remains) check(namespace string, gvr api.GroupVersionResource) error {
	if r.items == 0 || r.estimate > 0 {
		return nil
	}
	return &UnexpectedItemsError{Namespace: namespace, Resource: gvr, Items: r.items}
}
