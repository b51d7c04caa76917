package nsctl

import (
	"context"
	"errors"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// NamespaceClient is what the deleter does to namespaces themselves.
// *restclient.Resource[*api.Namespace] satisfies it.
type NamespaceClient interface {
	Get(ctx context.Context, name string, opts api.GetOptions) (*api.Namespace, error)
	UpdateStatus(ctx context.Context, namespace *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error)
	UpdateSubresource(ctx context.Context, name, subresource string, namespace *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error)
	Delete(ctx context.Context, name string, opts api.DeleteOptions) error
}

// ContentClient reads and deletes the content of one namespace, by resource. Only heads of objects are asked
// for: deleting needs names, and reporting needs finalizers.
type ContentClient interface {
	// DeleteCollection deletes everything in the collection. listed tells whether the server answered with all that
	// it found by a consistent read; found is that. A nil error says that the server has accepted the request.
	DeleteCollection(ctx context.Context, gvr api.GroupVersionResource, namespace string) (found []*api.PartialObjectMetadata, listed bool, err error)
	List(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, error)
	// Holders returns the names of the namespaces that hold something of the type, by one consistent read of bounded
	// size. It is complete if that read was.
	Holders(ctx context.Context, gvr api.GroupVersionResource) (namespaces map[string]bool, complete bool, err error)
	Delete(ctx context.Context, gvr api.GroupVersionResource, namespace, name string) error
	// ListPods lists pods with as much of them as decides how long they take to end.
	ListPods(ctx context.Context, namespace string) ([]*api.Pod, error)
}

// Discovery tells which namespaced resources there are. *discovery.Cached satisfies it; its client must have
// OnlyWhenReady set, or a server that is starting seems to have no custom resources, and their objects are left behind.
type Discovery interface {
	// PreferredNamespacedResources returns the resources of each group in its preferred version, as they were at
	// notOlderThan or later. An error may come beside a partial answer.
	PreferredNamespacedResources(ctx context.Context, notOlderThan time.Time) ([]*api.APIResourceList, error)
	// Invalidate forgets what was found: a request has shown that it is outdated.
	Invalidate()
}

// restContent is the ContentClient over HTTP.
type restContent struct{ client *restclient.Client }

// NewContentClient returns the content client that speaks to an API server.
func NewContentClient(client *restclient.Client) ContentClient { return restContent{client} }

func (c restContent) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, bool, error) {
	opts := api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground}
	found, listed, err := restclient.Metadata(c.client, gvr, namespace).DeleteCollection(ctx, opts, api.ListOptions{})
	if _, unreadable := errors.AsType[*restclient.DecodeError](err); unreadable {
		return nil, false, nil // the server has accepted it; what it says of it is of no use, as that of a Status
	}
	if err != nil || !listed || found.Continue != "" {
		return nil, false, err
	}
	return found.Items, true, nil
}

// listPageSize bounds one answer, so that a namespace with very many objects does not become one huge document.
const listPageSize = 500

func (c restContent) List(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, error) {
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
	// Objects without a namespace are none of those that were asked for: whatever this list is, it proves nothing.
	return namespaces, page.Continue == "" && !namespaces[""], nil
}

func (c restContent) ListPods(ctx context.Context, namespace string) ([]*api.Pod, error) {
	return listAll(ctx, restclient.Typed[*api.Pod](c.client, api.PodsResource, namespace))
}

func (c restContent) Delete(ctx context.Context, gvr api.GroupVersionResource, namespace, name string) error {
	return restclient.Metadata(c.client, gvr, namespace).
		Delete(ctx, name, api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground})
}

// listAll reads a collection page by page. When the continue token expires between two pages the collection is
// read once more in one piece: half a list would count too few items as remaining. A server that answers that with pages as
// well, whose tokens expire again, cannot be read.
func listAll[T restclient.Object](ctx context.Context, resource *restclient.Resource[T]) ([]T, error) {
	var items []T
	opts := api.ListOptions{Limit: listPageSize}
	for {
		page, err := resource.List(ctx, opts)
		if api.IsExpired(err) && opts.Continue != "" && opts.Limit > 0 {
			items, opts = nil, api.ListOptions{}
			continue
		}
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.Continue == "" {
			return items, nil
		}
		opts.Continue = page.Continue
	}
}
