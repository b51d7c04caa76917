package nsctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"orrery/nsctl/internal/shared"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Deleter makes passes over terminating namespaces; the articles call it
// NamespacedResourcesDeleterInterface. [NewDeleter] returns the textbook form; package nsctl/fast
// has the form that asks the server a third as often.
//
// Any number of goroutines may call Delete at a time, each for another namespace.
//
// # Guarantees
//
// A namespace is finalized only after a pass in which the server was ready, discovery complete, no
// request failed and nothing was left. Only this controller's token is removed; a deleter with
// another token than "kubernetes" is a second party, which writes neither phase nor conditions.
// Writes carry the resource version that they are based on, and a namespace that was re-created
// under its old name is not written to, and its content is not deleted: the controller ends the
// pass when it hears of that, and the deleter compares the UID right before each deletion. At most
// one worker processes a namespace at a time.
//
// A list is read page by page. One that does not end, or repeats its token, fails the type, by name
// ([*EndlessListError]), and holds only the namespaces that it is about.
//
// # Differences from kube-controller-manager
//
//   - A namespace without this controller's token is left alone. Upstream deletes its content as
//     long as it has any token, also when its owner may let it go at any moment.
//   - A pass ends with its namespace. No precondition of a collection's DELETE protects a namespace
//     that was re-created under the name, so a GET comes right before each. Upstream deletes on.
//   - Parts of a condition's message are cut: a status that is too large could not be written.
//   - An error while deleting pods ends the pass. Upstream goes on, and deletes the network
//     policies of pods that still run.
//   - A condition that is false because not everything was examined says so in its message
//     (#138208): pods remain, types could not be discovered, or deleting failed. Type, status and
//     reason are upstream's.
//   - A type that discovery lists and that a request does not find is not taken for empty.
//   - A server that is starting does not list all of its types; its readiness is checked first.
//   - `events`, served under two groups from one storage, are deleted once.
//   - Writes that meet a conflict are repeated a bounded number of times, with pauses.
//   - A change of the status alone brings no look: the pass that reported it has planned the next
//     one. Upstream hears its own report, and looks again after five seconds.
//   - Retries are planned for each namespace on its own: no bucket shared by all.
type Deleter interface {
	// Delete makes one pass over the namespace nsName: it deletes the content and, when nothing is
	// left, removes this controller's token so that the server can remove the namespace. A
	// namespace that does not exist, is not terminating, or does not have the token is left alone.
	// The caller has waited until every API server refuses new content in the namespace.
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

	gone context.Context // ends when the caller hears that the namespace has gone; may be nil
}

// IsOfAnother reports whether the namespace was re-created after the deletion was seen.
func (o ObservedDeletion) IsOfAnother(namespace *api.Namespace) bool {
	return o.UID != "" && o.UID != namespace.UID
}

// UntilGone returns a context for the part of a pass that deletes content, and its cancel function,
// which must be called. It ends with ctx, or with the cause [ErrGone] as soon as the caller of
// Delete hears that the namespace has gone. A finalize request does not need it: that write names
// the UID, and its own DELETED event must not cut it short.
func (o ObservedDeletion) UntilGone(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if o.gone == nil {
		return ctx, cancel
	}
	ignore := context.AfterFunc(o.gone, func() { cancel(ErrGone) })
	return ctx, func(cause error) {
		ignore()
		cancel(cause)
	}
}

// DeleterConfig is what a deleter of any form needs. The first three fields are required.
type DeleterConfig struct {
	Namespaces NamespaceClient
	Content    ContentClient
	Discovery  Discovery

	// FinalizerToken is the token in spec.finalizers that this deleter removes when the namespace
	// is empty; it leaves a namespace without the token alone. Default "kubernetes". Tokens of
	// others are never touched. Phase and conditions are the business of the party whose token is
	// "kubernetes": a deleter with another token leaves them alone.
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
	return c
}

// FirstParty reports whether phase and conditions of the namespace are this deleter's business.
func (c DeleterConfig) FirstParty() bool { return c.FinalizerToken == api.FinalizerKubernetes }

// NamespaceClient is what the deleter does to namespaces themselves.
// *restclient.Resource[*api.Namespace] satisfies it.
type NamespaceClient interface {
	Get(ctx context.Context, name string, opts api.GetOptions) (*api.Namespace, error)
	UpdateStatus(ctx context.Context, namespace *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error)
	UpdateSubresource(ctx context.Context, name, subresource string, namespace *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error)
}

// ContentClient reads and deletes the content of one namespace, by resource. It asks for the heads
// of objects only: deleting needs names, and reporting needs finalizers.
type ContentClient interface {
	// DeleteCollection deletes everything in the collection. listed reports whether the server
	// answered with all that it found by a consistent read; found is that, or a part. A nil error,
	// and [ErrUnread], say that the server has accepted the request.
	DeleteCollection(ctx context.Context, gvr api.GroupVersionResource, namespace string) (found []*api.PartialObjectMetadata, listed bool, err error)
	// Pages calls each with every page of the collection, and returns at the first error. A page is
	// not needed after the call: memory stays bounded however much there is. A list that does not
	// end is an *[EndlessListError].
	Pages(
		ctx context.Context, gvr api.GroupVersionResource, namespace string,
		each func(page []*api.PartialObjectMetadata) error,
	) error
	// List returns the whole collection.
	List(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, error)
	// Holders returns the names of the namespaces that hold something of the type, by one
	// consistent read of bounded size. complete reports whether the read covered the whole list.
	// Only the fast form asks.
	Holders(ctx context.Context, gvr api.GroupVersionResource) (namespaces map[string]bool, complete bool, err error)
	// Delete deletes this object, and not a later one of its name: the server compares the UID.
	Delete(ctx context.Context, gvr api.GroupVersionResource, namespace string, object *api.PartialObjectMetadata) error
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
