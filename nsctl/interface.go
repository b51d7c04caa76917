package nsctl

import (
	"cmp"
	"context"
	"time"

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
//   - A long condition's message is cut: a status that is too large could not be written.
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
// called without a check, except PassStuck.
func (c DeleterConfig) WithDefaults() DeleterConfig {
	c.FinalizerToken = cmp.Or(c.FinalizerToken, api.FinalizerKubernetes)
	if c.Concurrency <= 0 {
		c.Concurrency = defaultTypeConcurrency
	}
	if c.ConflictBackoff.Steps <= 0 {
		c.ConflictBackoff = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 6,
			Cap: time.Second}
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
	UpdateSubresource(ctx context.Context, name, subresource string, namespace *api.Namespace,
		opts api.UpdateOptions) (*api.Namespace, error)
}

// ContentClient reads and deletes the content of one namespace, by resource. It asks for the heads
// of objects only: deleting needs names, and reporting needs finalizers.
type ContentClient interface {
	// DeleteCollection deletes everything in the collection. listed reports whether the server
	// answered with all that it found by a consistent read; found is that, or a part. A nil error,
	// and [ErrUnread], say that the server has accepted the request.
	DeleteCollection(ctx context.Context, gvr api.GroupVersionResource,
		namespace string) (found []*api.PartialObjectMetadata, listed bool, err error)
	// Pages calls each with every page of the collection, and returns at the first error. A page is
	// not needed after the call: memory stays bounded however much there is. A list that does not
	// end is an *[EndlessListError].
	Pages(
		ctx context.Context, gvr api.GroupVersionResource, namespace string,
		each func(page []*api.PartialObjectMetadata) error,
	) error
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
