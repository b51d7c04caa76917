package nsctl

import (
	"context"
	"errors"
	"fmt"

	"orrery/restclient"
	"orrery/restclient/api"
)

// restContent is the ContentClient over HTTP.
type restContent struct{ client *restclient.Client }

// NewContentClient returns the content client that speaks to an API server.
func NewContentClient(client *restclient.Client) ContentClient { return restContent{client} }

func (c restContent) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource,
	namespace string) ([]*api.PartialObjectMetadata, bool, error) {
	opts := api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground}
	found, listed, err := restclient.Metadata(c.client, gvr, namespace).DeleteCollection(ctx, opts, api.ListOptions{})
	if _, unreadable := errors.AsType[*restclient.DecodeError](err); unreadable {
		return nil, false, fmt.Errorf("%w: %w", ErrUnread, err)
	}
	if err != nil || !listed {
		return nil, false, err
	}
	return found.Items, found.Continue == "", nil
}

// listPageSize bounds one answer, so that a namespace with very many objects does not become one
// huge document.
const listPageSize = 500

// maxPages bounds a list, which a broken or hostile server might never end. Half a million objects
// of one type is more than etcd holds of anything but small ones.
const maxPages = 1000

func (c restContent) Pages(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, each func([]*api.PartialObjectMetadata) error,
) error {
	return pages(ctx, restclient.Metadata(c.client, gvr, namespace), each)
}

func (c restContent) Holders(ctx context.Context, gvr api.GroupVersionResource) (map[string]bool, bool, error) {
	page, err := restclient.Metadata(c.client, gvr, "").List(ctx, api.ListOptions{Limit: listPageSize})
	if err != nil {
		return nil, false, err
	}
	namespaces := map[string]bool{}
	for _, item := range page.Items {
		namespaces[item.Namespace] = true
	}
	// Objects without a namespace were not asked for: such a list proves nothing.
	return namespaces, page.Continue == "" && !namespaces[""], nil
}

func (c restContent) ListPods(ctx context.Context, namespace string) (pods []*api.Pod, err error) {
	resource := restclient.Typed[*api.Pod](c.client, api.PodsResource, namespace)
	err = pages(ctx, resource, func(page []*api.Pod) error {
		pods = append(pods, page...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pods, nil
}

func (c restContent) Delete(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, object *api.PartialObjectMetadata,
) error {
	opts := api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground}
	if object.UID != "" {
		opts.Preconditions = &api.Preconditions{UID: &object.UID}
	}
	return restclient.Metadata(c.client, gvr, namespace).Delete(ctx, object.Name, opts)
}

// pages calls each with every page of a collection.
func pages[T restclient.Object](
	ctx context.Context, resource *restclient.Resource[T], each func(page []T) error,
) error {
	opts := api.ListOptions{Limit: listPageSize}
	for range maxPages {
		page, err := resource.List(ctx, opts)
		if _, tooLarge := errors.AsType[*restclient.TooLargeError](err); tooLarge && opts.Limit > 1 {
			// Annotations may be large: kubectl apply writes the whole object into one.
			opts.Limit = max(1, opts.Limit/10)
			continue
		}
		if err != nil {
			return err
		}
		if err := each(page.Items); err != nil {
			return err
		}
		switch page.Continue {
		case "":
			return nil
		case opts.Continue:
			return &EndlessListError{resource.GroupVersionResource(), "a page names itself as the next one"}
		}
		opts.Continue = page.Continue
	}
	return &EndlessListError{resource.GroupVersionResource(), fmt.Sprintf("%d pages were read", maxPages)}
}

// CheckStillThere asks the server whether it still has a namespace that is being deleted. It
// returns [ErrGone] if not, and *[UIDChangedError] if the namespace was re-created. A deleter calls
// it right before it deletes a collection, because no precondition of that request protects a
// namespace that was re-created under the name.
func CheckStillThere(ctx context.Context, namespaces NamespaceClient, namespace *api.Namespace) error {
	latest, err := namespaces.Get(ctx, namespace.Name, api.GetOptions{})
	if IsGone(err) {
		return ErrGone
	}
	if err != nil {
		return WhileDoing("reading the namespace", err)
	}
	if latest.UID != namespace.UID {
		return &UIDChangedError{Namespace: namespace.Name, OldUID: namespace.UID, NewUID: latest.UID}
	}
	return nil
}

// IsGone reports whether the API server itself answered that the namespace does not exist: with a
// Status about a namespace. The 404 of a proxy or load balancer says nothing about it.
func IsGone(err error) bool {
	refused, ok := errors.AsType[*api.StatusError](err)
	if !ok || refused.Status.Reason != api.ReasonNotFound || refused.HasCause(api.CauseUnexpectedServerResponse) {
		return false
	}
	details := refused.Status.Details
	return details == nil || details.Kind == "" || details.Kind == api.NamespacesResource.Resource
}

// NotServed reports whether a type that discovery lists was answered as if it did not exist or
// lacked the verb. That does not prove it empty: a server that has not learnt of a type yet answers
// the same.
func NotServed(err error) bool { return api.IsNotFound(err) || api.IsMethodNotAllowed(err) }

// WhileDoing adds to the error of a request about the namespace what the request was for. It
// returns nil for nil, and if the namespace is gone: then there is nothing more to do.
func WhileDoing(what string, err error) error {
	if err == nil || IsGone(err) {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// HasEnded reports whether err says that the namespace of a pass has gone or was re-created, so
// that nothing more may be deleted under its name.
func HasEnded(err error) bool {
	_, recreated := errors.AsType[*UIDChangedError](err)
	return recreated || errors.Is(err, ErrGone)
}

// WhileListing returns err as a *[ResourceError] of the LIST, unless it is that of a request which
// was made between two pages. It returns nil for nil.
func WhileListing(gvr api.GroupVersionResource, err error) error {
	if _, other := errors.AsType[*ResourceError](err); err == nil || other {
		return err
	}
	return &ResourceError{Doing: "listing", Resource: gvr, Err: err}
}
