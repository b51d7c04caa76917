package nsctl

import (
	"context"
	"errors"
	"fmt"

	"orrery/nsctl/internal/shared"
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

func (c restContent) List(ctx context.Context, gvr api.GroupVersionResource,
	namespace string) ([]*api.PartialObjectMetadata, error) {
	return listAll(ctx, restclient.Metadata(c.client, gvr, namespace))
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

func (c restContent) ListPods(ctx context.Context, namespace string) ([]*api.Pod, error) {
	return listAll(ctx, restclient.Typed[*api.Pod](c.client, api.PodsResource, namespace))
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
	endless := func(reason string, count ...any) error {
		return &EndlessListError{Resource: resource.GroupVersionResource(), Reason: fmt.Sprintf(reason, count...)}
	}
	items := 0
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
		items += len(page.Items)
		switch {
		case page.Continue == "":
			return nil
		case page.Continue == opts.Continue:
			return endless("a page names itself as the next one")
		case items > maxPages*listPageSize:
			return endless("%d objects were read", items)
		}
		opts.Continue = page.Continue
	}
	return endless("%d pages were read", maxPages)
}

// listAll reads a collection into memory.
func listAll[T restclient.Object](ctx context.Context, resource *restclient.Resource[T]) (items []T, err error) {
	err = onceMoreIfExpired(func() error {
		items = nil
		return pages(ctx, resource, func(page []T) error {
			items = append(items, page...)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// onceMoreIfExpired repeats a list whose continue token expired between two pages: half a list
// would count too few items as remaining. A server whose tokens expire again cannot be read.
func onceMoreIfExpired(list func() error) error {
	err := list()
	if api.IsExpired(err) {
		err = list()
	}
	return err
}

// CheckStillThere asks the server whether it still has a namespace that is being deleted. It
// returns [ErrGone] if not, and *[UIDChangedError] if the namespace was re-created. A deleter calls
// it right before it deletes a collection, because no precondition of that request protects a
// namespace that was re-created under the name.
func CheckStillThere(ctx context.Context, namespaces NamespaceClient, namespace *api.Namespace) error {
	latest, err := namespaces.Get(ctx, namespace.Name, api.GetOptions{})
	if err != nil {
		if shared.IsGone(err) {
			return ErrGone
		}
		return shared.WhileDoing("reading the namespace", err)
	}
	if latest.UID != namespace.UID {
		return &UIDChangedError{Namespace: namespace.Name, OldUID: namespace.UID, NewUID: latest.UID}
	}
	return nil
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
