// Package registry implements the verbs of the API over the versioned store. A write is computed
// from a state that was read without a lock, and stored only if that state is still current;
// otherwise it is computed again. Each type has its [resources.Strategy]:
//
//	create   namespace active? -> prepare -> validate (422) -> admission -> store, if absent (409)
//	update   version current? (409) -> keep server fields -> prepare -> validate -> admission -> swap
//	patch    like update, retried on the latest state after a conflict
//	delete   preconditions (409) -> admission -> mark, or remove if nothing holds the object
//	list     a view of one version, filtered; all pages show that version
//	watch    a position in the history; each change is filtered by the selection
//
// A write that changes nothing consumes no version. Nothing is created in a terminating namespace:
// that is checked atomically with the write. Codes, reasons and messages are those of
// kube-apiserver 1.36. The package starts no goroutines: what kube-apiserver leaves to a
// controller, such as accepting the names of custom resources, is done before the request is
// answered.
package registry

import (
	"context"
	"errors"
	"sync"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Config configures a Registry. Store and Catalog are required.
type Config struct {
	Store   *store.Store
	Catalog *resources.Catalog
	// Admit is called for every valid write before it is stored, like a validating admission
	// webhook. An error refuses the write. Nil admits everything.
	Admit func(context.Context, Attributes) error
	// Conflict reports whether to answer an update or patch with a conflict. Nil means never.
	Conflict func(Attributes) bool
	// Lag returns by how many versions a read from the watch cache is behind the store. Nil means
	// none.
	Lag func() uint64
	// ExpireContinue reports whether to treat a continue token as expired. Nil means never.
	ExpireContinue func(Target) bool
}

// Registry implements the API verbs. It is safe for concurrent use.
type Registry struct {
	config  Config
	store   *store.Store
	catalog *resources.Catalog

	// The types with behaviour of their own in this package.
	namespaces, pods, customResources, services *resources.Definition
	coreServices, endpointSlices                *resources.Definition

	// syncing serializes updates of the catalog from definitions and APIServices. Its holder reads
	// the store after locking, so that the catalog ends up with the latest state.
	syncing sync.Mutex
	remotes map[string]remoteService // guarded by syncing; by the name of the APIService
}

// New returns a new Registry with the system namespaces.
func New(c Config) *Registry {
	r := &Registry{config: c, store: c.Store, catalog: c.Catalog, remotes: map[string]remoteService{}}
	builtin := func(group, resource string) *resources.Definition {
		d, ok := c.Catalog.Lookup(api.GroupVersionResource{Group: group, Version: "v1", Resource: resource})
		if !ok {
			panic("registry: the catalog has no " + resource)
		}
		return d
	}
	r.namespaces, r.pods = builtin("", "namespaces"), builtin("", "pods")
	r.customResources = builtin("apiextensions.k8s.io", "customresourcedefinitions")
	r.services = builtin("apiregistration.k8s.io", "apiservices")
	r.coreServices, r.endpointSlices = builtin("", "services"), builtin("discovery.k8s.io", "endpointslices")
	r.makeSystemNamespaces()
	r.makeLocalServices()
	r.readCatalog()
	return r
}

// readCatalog adds the custom resources and remote groups of an existing store to the catalog.
func (r *Registry) readCatalog() {
	for definition, sync := range map[*resources.Definition]func(string){r.customResources: r.syncCustom,
		r.services: r.syncService} {
		view, _ := r.store.Collection(definition.Prefix).View(0) // neither collection is ever dropped
		view.Ascend("", store.Key{}, func(o *store.Object) bool {
			sync(o.Key.Name)
			return true
		})
	}
}

func (r *Registry) collection(t Target) *store.Collection {
	return r.store.Collection(t.Definition.Prefix)
}

// admitted calls the admission hook with the object to be stored or deleted.
func (r *Registry) admitted(ctx context.Context, verb string, t Target, w WriteOptions, o *api.Unstructured) error {
	if r.config.Admit == nil || w.internal {
		return nil
	}
	return r.config.Admit(ctx, Attributes{Verb: verb, Target: t, User: w.User, Object: o, Collection: w.collection})
}

// injectConflict reports whether the hook asks for a conflict.
func (r *Registry) injectConflict(verb string, t Target, w WriteOptions, object *api.Unstructured) bool {
	return r.config.Conflict != nil && !w.internal &&
		r.config.Conflict(Attributes{Verb: verb, Target: t, User: w.User, Object: object})
}

// storeError converts an error of a write into an API status.
func (r *Registry) storeError(t Target, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrDropped):
		return t.notFound()
	}
	if _, ok := errors.AsType[*api.StatusError](err); ok {
		return err // returned by a guard
	}
	return resources.InternalError(err)
}

// removed runs after an object was removed from the store.
func (r *Registry) removed(ctx context.Context, t Target, last *store.Object) {
	r.written(t, last)
	if t.Definition.Custom {
		r.finishCustom(ctx, t.Definition.Qualified())
	}
}

// written runs after an object was stored or removed.
func (r *Registry) written(t Target, o *store.Object) {
	switch t.Definition {
	case r.customResources:
		r.syncCustom(o.Key.Name)
	case r.services:
		r.syncService(o.Key.Name)
	case r.coreServices:
		r.syncBackends(o.Key.Namespace, o.Key.Name)
	case r.endpointSlices:
		r.syncBackends(o.Key.Namespace, o.Labels[serviceLabel])
	}
}
