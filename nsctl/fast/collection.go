package fast

import (
	"context"
	"time"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// deleteAndCount deletes everything of one type and returns what is left.
//
// The answer to deleting a collection lists what the server found by a consistent read. Nothing can
// be created in a terminating namespace, so an empty list proves that the type is empty, and one
// request was enough.
func (d *deleter) deleteAndCount(ctx context.Context, resource nsctl.DeletableResource, namespace string) (nsctl.Remains, error) {
	empty, err := d.deleteCollection(ctx, resource, namespace)
	if err != nil || empty {
		return nsctl.Remains{}, err
	}
	// A type that cannot be listed is deleted once more: the answer lists what the server still
	// found. Without that verb either, the content is unknown, and the type counts as empty (as in
	// upstream).
	look := d.list
	if !resource.CanList && resource.CanDeleteCollection {
		look = d.deleteAgain
	}
	items, err := look(ctx, resource, namespace)
	if err != nil {
		return nsctl.Remains{}, err
	}
	left := nsctl.CountRemains(items, 0)
	return left, left.Check(namespace, resource.GVR)
}

// deleteAndCountPods is deleteAndCount for pods: those that are left have grace periods.
func (d *deleter) deleteAndCountPods(ctx context.Context, resource nsctl.DeletableResource, namespace *api.Namespace) (nsctl.Remains, error) {
	empty, err := d.deleteCollection(ctx, resource, namespace.Name)
	if err != nil || empty {
		return nsctl.Remains{}, err
	}
	pods, err := d.Content.ListPods(ctx, namespace.Name)
	if err != nil {
		return nsctl.Remains{}, &nsctl.ResourceError{Doing: "listing", Resource: resource.GVR, Err: err}
	}
	left := nsctl.CountRemains(pods, podsEstimate(pods, time.Since(namespace.DeletionTimestamp.Time)))
	return left, left.Check(namespace.Name, resource.GVR)
}

// podsEstimate returns the longest grace period, in seconds, of the pods that still run. It is 0
// once that much time has passed since the deletion: then the pods are late and the period says
// nothing any more.
func podsEstimate(pods []*api.Pod, passed time.Duration) int64 {
	var estimate int64
	for _, pod := range pods {
		ended := pod.Status.Phase == api.PodSucceeded || pod.Status.Phase == api.PodFailed
		if grace := pod.Spec.TerminationGracePeriodSeconds; !ended && grace != nil {
			estimate = max(estimate, *grace)
		}
	}
	if passed >= time.Duration(estimate)*time.Second {
		return 0
	}
	return estimate
}

// deleteCollection deletes all objects of the type, in one request if the server has the verb.
// empty reports whether the answer already proves that there was nothing.
func (d *deleter) deleteCollection(ctx context.Context, resource nsctl.DeletableResource, namespace string) (empty bool, err error) {
	if resource.CanDeleteCollection {
		found, listed, err := d.Content.DeleteCollection(ctx, resource.GVR, namespace)
		switch {
		case err == nil:
			return listed && len(found) == 0, nil
		case nsctl.NotServed(err) && resource.CanList:
			// Discovery and the server disagree: the type has gone or has changed its verbs since.
			// The LIST decides.
			d.Discovery.Invalidate()
		default:
			return false, &nsctl.ResourceError{Doing: "deleting the collection", Resource: resource.GVR, Err: err}
		}
	}
	items, err := d.list(ctx, resource, namespace)
	if err != nil {
		return false, err
	}
	for _, item := range items {
		err := d.Content.Delete(ctx, resource.GVR, namespace, item.GetName())
		if err != nil && !nsctl.NotServed(err) {
			return false, &nsctl.ResourceError{Doing: "deleting " + item.GetName(), Resource: resource.GVR, Err: err}
		}
	}
	return len(items) == 0, nil
}

// list returns the objects of one type; none for a type that has no list verb.
func (d *deleter) list(ctx context.Context, resource nsctl.DeletableResource, namespace string) ([]*api.PartialObjectMetadata, error) {
	if !resource.CanList {
		return nil, nil
	}
	items, err := d.Content.List(ctx, resource.GVR, namespace)
	if err != nil {
		return nil, &nsctl.ResourceError{Doing: "listing", Resource: resource.GVR, Err: err}
	}
	return items, nil
}

func (d *deleter) deleteAgain(ctx context.Context, resource nsctl.DeletableResource, namespace string) ([]*api.PartialObjectMetadata, error) {
	found, _, err := d.Content.DeleteCollection(ctx, resource.GVR, namespace)
	if err != nil {
		return nil, &nsctl.ResourceError{Doing: "deleting the collection", Resource: resource.GVR, Err: err}
	}
	return found, nil
}
