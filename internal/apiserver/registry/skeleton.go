package registry

import (
	"context"

	"orrery/internal/apiserver/resources"
	"orrery/internal/apiserver/store"
	"orrery/restclient/api"
)

// Config says what a Registry works on. Store and Catalog are needed.
type Config struct {
	Store   *store.Store
	Catalog *resources.Catalog
	// Admit is asked about every write after it has been found valid and before it is stored, as validating admission
	// webhooks are. An error refuses it. nil admits everything.
	Admit func(Attributes) error
	// Conflict tells whether to answer an update or patch with a conflict, as if somebody else had been faster. nil: no.
	Conflict func(Attributes) bool
	// Lag is by how many versions reads that do not ask for the latest state are behind, as those of a replica with a slow
	// watch cache are. nil: they are not.
	Lag func() uint64
	// Trace is told what happens; nil for none.
	Trace *Trace
}

// Trace holds hooks. Each may be nil.
type Trace struct{}

// Registry knows the verbs. Make one with [New]; it may be used from any goroutine.
type Registry struct{}

// New returns a registry over a store, with the namespaces that every cluster has.
func New(c Config) *Registry { return &Registry{} }

// Get returns an object.
func (r *Registry) Get(t Target, o api.GetOptions) (*store.Object, error) { return nil, t.notFound() }

// List returns a collection, or a page of it.
func (r *Registry) List(t Target, o api.ListOptions) (*Page, error) { return &Page{}, nil }

// Watch returns a watch of a collection.
func (r *Registry) Watch(t Target, o api.ListOptions) (*Watch, error) { return &Watch{}, nil }

// Create stores a new object.
func (r *Registry) Create(ctx context.Context, t Target, o *api.Unstructured, w WriteOptions) (*store.Object, error) {
	return nil, t.notFound()
}

// Update replaces an object, or its status and so on.
func (r *Registry) Update(ctx context.Context, t Target, o *api.Unstructured, w WriteOptions) (*store.Object, bool, error) {
	return nil, false, t.notFound()
}

// Patch changes an object.
func (r *Registry) Patch(ctx context.Context, t Target, change func(*api.Unstructured) (*api.Unstructured, error), w WriteOptions) (*store.Object, error) {
	return nil, t.notFound()
}

// Delete deletes an object, or begins to.
func (r *Registry) Delete(ctx context.Context, t Target, o api.DeleteOptions, w WriteOptions) (*store.Object, bool, error) {
	return nil, false, t.notFound()
}

// DeleteCollection deletes what a list with the same options shows.
func (r *Registry) DeleteCollection(ctx context.Context, t Target, d api.DeleteOptions, l api.ListOptions, w WriteOptions) (*Page, error) {
	return &Page{}, nil
}

// Bind assigns a pod to a node: the binding subresource.
func (r *Registry) Bind(ctx context.Context, t Target, node string, w WriteOptions) error {
	return t.notFound()
}

// Watch is a watch of a collection. One goroutine at a time uses it. It needs no closing.
type Watch struct{}

// Next returns the events that come next, at least one; it waits for them until ctx ends, whose error it then returns.
// A [*api.StatusError] is to be told the watcher as an ERROR event, [ErrEnded] ends the watch without a word.
func (w *Watch) Next(ctx context.Context) ([]Event, error) { return nil, ErrEnded }

// Wait returns a channel that is closed when Next would return at once. Ask for a new one each time.
func (w *Watch) Wait() <-chan struct{} { return nil }

// Progress returns a version such that every change up to it has been returned by Next, and whether there is nothing
// more at the moment: then a bookmark may say so.
func (w *Watch) Progress() (version uint64, upToDate bool) { return 0, false }
