package fast

import (
	"context"
	"errors"

	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
)

// deleteAndCount deletes everything of one type and returns what is left.
//
// Most types have nothing in most namespaces. Nothing can be created in a terminating namespace, so
// a list without objects proves the type empty, and one request was enough. A list of what is left
// follows each deletion.
func (p *pass) deleteAndCount(ctx context.Context, resource nsctl.DeletableResource) (nsctl.Remains, error) {
	namespace := p.namespace.Name
	looked := resource.CanList && resource.GVR != configMaps
	if looked {
		empty, err := p.isEmpty(ctx, resource, namespace)
		if err != nil || empty {
			return nsctl.Remains{}, err
		}
	}
	empty, err := p.deleteAll(ctx, resource)
	if err != nil || empty && !looked { // otherwise the answer contradicts the list
		return nsctl.Remains{}, err
	}
	var left nsctl.Remains
	switch {
	case resource.IsPods(): // those that are left have grace periods
		var pods []*api.Pod
		pods, err = p.Content.ListPods(ctx, namespace)
		err = nsctl.WhileListing(resource.GVR, err)
		estimate := nsctl.EstimateGracefulTerminationForPods(pods, p.namespace.DeletionTimestamp.Time)
		left = nsctl.CountRemains(pods, estimate)
	case resource.CanList:
		left, err = nsctl.ListRemains(ctx, p.Content, resource.GVR, namespace, 0)
	case resource.CanDeleteCollection:
		// The answer to another deletion lists what the server still found. Without that verb
		// either, the content is unknown, and the type counts as empty (as in upstream).
		var found []*api.PartialObjectMetadata
		found, _, err = p.deleteCollection(ctx, resource)
		left = nsctl.CountRemains(found, 0)
	}
	if err != nil {
		return left, err
	}
	return left, left.Check(namespace, resource.GVR)
}

// configMaps are in every namespace: kube-controller-manager keeps kube-root-ca.crt in each. To
// list them before the deletion would be a request that learns nothing.
var configMaps = api.GroupVersionResource{Version: "v1", Resource: "configmaps"}

var errFound = errors.New("there are objects")

// isEmpty reports whether the namespace has no object of a type. It reads one page.
func (p *pass) isEmpty(ctx context.Context, resource nsctl.DeletableResource, namespace string) (bool, error) {
	err := p.Content.Pages(ctx, resource.GVR, namespace, func(page []*api.PartialObjectMetadata) error {
		if len(page) > 0 {
			return errFound
		}
		return nil
	})
	_, tooLarge := errors.AsType[*restclient.TooLargeError](err)
	if tooLarge || errors.Is(err, errFound) {
		return false, nil
	}
	return err == nil, nsctl.WhileListing(resource.GVR, err)
}

// deleteAll deletes all objects of the type, in one request if the server has the verb. It reports
// whether the server says by a consistent read that there were none.
func (p *pass) deleteAll(ctx context.Context, resource nsctl.DeletableResource) (empty bool, err error) {
	if resource.CanDeleteCollection {
		found, listed, err := p.deleteCollection(ctx, resource)
		if err == nil {
			return listed && len(found) == 0, nil
		}
		if !nsctl.NotServed(err) || !resource.CanList {
			return false, err
		}
		// Discovery and the server disagree: the type has gone or has changed its verbs since. The
		// LIST decides.
		p.Discovery.Invalidate()
	}
	if !resource.CanList {
		return false, nil
	}
	return false, p.deleteEach(ctx, resource)
}

// deleteCollection deletes the type's objects in one request, and returns what the server found.
// The request only names a namespace, and the namespace may have been re-created during the pass:
// the request follows a GET that shows the namespace of the pass. Otherwise the pass ends.
func (p *pass) deleteCollection(
	ctx context.Context, resource nsctl.DeletableResource,
) (found []*api.PartialObjectMetadata, listed bool, err error) {
	if err := p.stillThere(ctx); err != nil {
		return nil, false, err
	}
	found, listed, err = p.Content.DeleteCollection(ctx, resource.GVR, p.namespace.Name)
	if errors.Is(err, nsctl.ErrUnread) && resource.CanList {
		return nil, false, nil // a LIST follows
	}
	if err != nil {
		return nil, false, &nsctl.ResourceError{Doing: "deleting the collection", Resource: resource.GVR, Err: err}
	}
	return found, listed, nil
}

// stillThere returns an error, and may end the pass, if the namespace of the pass is not there.
func (p *pass) stillThere(ctx context.Context) error {
	err := nsctl.CheckStillThere(ctx, p.Namespaces, p.namespace)
	if nsctl.HasEnded(err) {
		p.end(err)
	}
	return err
}

// deleteEach deletes the objects of a type one by one, page by page. The server compares their
// UIDs, and a namespace that is still there after a page was listed had these objects.
func (p *pass) deleteEach(ctx context.Context, resource nsctl.DeletableResource) error {
	err := p.Content.Pages(ctx, resource.GVR, p.namespace.Name, func(page []*api.PartialObjectMetadata) error {
		if len(page) == 0 {
			return nil
		}
		if err := p.stillThere(ctx); err != nil {
			return err
		}
		for _, item := range page {
			err := p.Content.Delete(ctx, resource.GVR, p.namespace.Name, item)
			if err != nil && !nsctl.NotServed(err) {
				return &nsctl.ResourceError{Doing: "deleting " + item.Name, Resource: resource.GVR, Err: err}
			}
		}
		return nil
	})
	return nsctl.WhileListing(resource.GVR, err)
}
