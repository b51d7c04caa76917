package nsctl

import (
	"cmp"
	"context"
	"errors"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Deleter makes passes over terminating namespaces; the articles call it
// NamespacedResourcesDeleterInterface. [NewDeleter] returns the textbook form; package nsctl/fast
// has the form that asks the server half as often.
//
// Any number of goroutines may call Delete at a time, each for another namespace.
type Deleter interface {
	// Delete makes one pass over the namespace nsName: it deletes the content and, when nothing is
	// left, removes this controller's token so that the server can remove the namespace. A
	// namespace that does not exist or is not terminating is left alone. The caller has waited
	// until every API server refuses new content in the namespace.
	//
	// nil means that there is nothing more to do. *[ResourcesRemainingError] means that the pass
	// succeeded and another one is needed later; any other error, that the pass failed.
	Delete(ctx context.Context, nsName string, seen ObservedDeletion) error
}

// ObservedDeletion is what the caller of Delete knows of the deletion before the namespace is read.
// The zero value says that it knows nothing.
type ObservedDeletion struct {
	// UID is the UID of the namespace that was seen terminating. The pass leaves a later namespace
	// of that name alone: its grace period begins when it is seen itself.
	UID string
	// Settled is the end of the grace period by our own clock: since then nothing can be created in
	// the namespace.
	Settled time.Time
}

// IsOfAnother reports whether the namespace was re-created after the deletion was seen.
func (o ObservedDeletion) IsOfAnother(namespace *api.Namespace) bool {
	return o.UID != "" && o.UID != namespace.UID
}

// DeleterConfig is what a deleter of any form needs. The first three fields are required.
type DeleterConfig struct {
	Namespaces NamespaceClient
	Content    ContentClient
	Discovery  Discovery

	// FinalizerToken is the token in spec.finalizers that this deleter removes when the namespace
	// is empty. Default "kubernetes". Tokens of others are never touched. Phase, conditions and the
	// final DELETE are the business of the party whose token is "kubernetes": a deleter with
	// another token leaves them alone.
	FinalizerToken string
	Concurrency    int  // types of one namespace that the fast form deletes at a time; default 32, all of a kube-apiserver
	DryRun         bool // read and decide, and write nothing
	// ConflictBackoff bounds how often a conflicting write is repeated. Default: six times, from 10
	// ms on. Upstream repeats at once and without end, which turns two writers that disagree into a
	// busy loop.
	ConflictBackoff wait.Backoff
	Trace           *Trace // default none
}

const defaultTypeConcurrency = 32

// WithDefaults returns the configuration with every field set, and a trace whose hooks may be
// called without a check, except PhaseDone and PassStuck.
func (c DeleterConfig) WithDefaults() DeleterConfig {
	c.FinalizerToken = cmp.Or(c.FinalizerToken, api.FinalizerKubernetes)
	if c.Concurrency <= 0 {
		c.Concurrency = defaultTypeConcurrency
	}
	if c.ConflictBackoff.Steps <= 0 {
		c.ConflictBackoff = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 6, Cap: time.Second}
	}
	c.Trace = c.Trace.complete()
	c.Content = countingContent{c.Content, c.Trace}
	return c
}

// FirstParty reports whether phase, conditions and the final DELETE of the namespace are this
// deleter's business.
func (c DeleterConfig) FirstParty() bool { return c.FinalizerToken == api.FinalizerKubernetes }

// NamespaceClient is what the deleter does to namespaces themselves.
// *restclient.Resource[*api.Namespace] satisfies it.
type NamespaceClient interface {
	Get(ctx context.Context, name string, opts api.GetOptions) (*api.Namespace, error)
	UpdateStatus(ctx context.Context, namespace *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error)
	UpdateSubresource(ctx context.Context, name, subresource string, namespace *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error)
	Delete(ctx context.Context, name string, opts api.DeleteOptions) error
}

// ContentClient reads and deletes the content of one namespace, by resource. It asks for the heads
// of objects only: deleting needs names, and reporting needs finalizers.
type ContentClient interface {
	// DeleteCollection deletes everything in the collection. listed reports whether the server
	// answered with all that it found by a consistent read; found is that. A nil error says that
	// the server has accepted the request.
	DeleteCollection(ctx context.Context, gvr api.GroupVersionResource, namespace string) (found []*api.PartialObjectMetadata, listed bool, err error)
	List(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, error)
	// Holders returns the names of the namespaces that hold something of the type, by one
	// consistent read of bounded size. complete reports whether the read covered the whole list.
	// Only the fast form asks.
	Holders(ctx context.Context, gvr api.GroupVersionResource) (namespaces map[string]bool, complete bool, err error)
	Delete(ctx context.Context, gvr api.GroupVersionResource, namespace, name string) error
	// ListPods lists pods with their specification and status, which decide how long they take to
	// end.
	ListPods(ctx context.Context, namespace string) ([]*api.Pod, error)
}

// Discovery returns which namespaced resources there are. *discovery.Cached satisfies it; its
// client must have OnlyWhenReady set, or a server that is starting seems to have no custom
// resources, and their objects are left behind.
type Discovery interface {
	// PreferredNamespacedResources returns the resources of each group in its preferred version, as
	// they were at notOlderThan or later. An error may come beside a partial answer.
	PreferredNamespacedResources(ctx context.Context, notOlderThan time.Time) ([]*api.APIResourceList, error)
	// Invalidate drops the cached types: a request has shown that they are out of date.
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
		return nil, false, nil // the server has accepted the request; its answer is as useless as a Status
	}
	if err != nil || !listed || found.Continue != "" {
		return nil, false, err
	}
	return found.Items, true, nil
}

// countingContent tells the trace how many objects were deleted.
type countingContent struct {
	ContentClient
	trace *Trace
}

func (c countingContent) DeleteCollection(
	ctx context.Context, gvr api.GroupVersionResource, namespace string,
) ([]*api.PartialObjectMetadata, bool, error) {
	found, listed, err := c.ContentClient.DeleteCollection(ctx, gvr, namespace)
	began := 0
	for _, item := range found { // as it was before the request
		if item.DeletionTimestamp == nil {
			began++
		}
	}
	if began > 0 {
		c.trace.ObjectsDeleted(namespace, gvr, began)
	}
	return found, listed, err
}

func (c countingContent) Delete(ctx context.Context, gvr api.GroupVersionResource, namespace, name string) error {
	err := c.ContentClient.Delete(ctx, gvr, namespace, name)
	if err == nil {
		c.trace.ObjectsDeleted(namespace, gvr, 1)
	}
	return err
}

// listPageSize bounds one answer, so that a namespace with very many objects does not become one
// huge document.
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
	// Objects without a namespace were not asked for: such a list proves nothing.
	return namespaces, page.Continue == "" && !namespaces[""], nil
}

func (c restContent) ListPods(ctx context.Context, namespace string) ([]*api.Pod, error) {
	return listAll(ctx, restclient.Typed[*api.Pod](c.client, api.PodsResource, namespace))
}

func (c restContent) Delete(ctx context.Context, gvr api.GroupVersionResource, namespace, name string) error {
	return restclient.Metadata(c.client, gvr, namespace).
		Delete(ctx, name, api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground})
}

// listAll reads a collection page by page. When the continue token expires between two pages the
// collection is read once more in one piece: half a list would count too few items as remaining. A
// server that answers that with pages as well, whose tokens expire again, cannot be read.
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
