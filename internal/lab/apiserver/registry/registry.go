package registry

import (
	"context"
	"errors"
	"strings"
	"sync"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
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
	// ExpireContinue tells whether the token of a list that goes on counts as too old, as after a compaction. nil: no.
	ExpireContinue func(Target) bool
}

// Registry knows the verbs. Make one with [New]; it may be used from any goroutine.
type Registry struct {
	// Immutable.
	store    *store.Store
	catalog  *resources.Catalog
	admit    func(Attributes) error
	conflict func(Attributes) bool
	lag      func() uint64
	expires  func(Target) bool

	// The types that the registry has to do with itself.
	namespaces, pods, customResources, services *resources.Definition

	// syncing orders what the catalog is told of custom resources and of other servers: whoever holds it looks at the
	// store first, so that the catalog ends up with what was written last.
	syncing sync.Mutex
	// registering orders what the APIServices of custom resources are told of the catalog.
	registering sync.Mutex
}

// New returns a registry over a store, with the namespaces that every cluster has.
func New(c Config) *Registry {
	r := &Registry{
		store: c.Store, catalog: c.Catalog,
		admit: c.Admit, conflict: c.Conflict, lag: c.Lag, expires: c.ExpireContinue,
	}
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
	r.makeSystemNamespaces()
	r.makeLocalServices()
	r.readCatalog()
	return r
}

// readCatalog makes the catalog say what a store says that is not new: which custom resources there are, and which groups
// other servers are to serve.
func (r *Registry) readCatalog() {
	for definition, sync := range map[*resources.Definition]func(string){r.customResources: r.syncCustom, r.services: r.syncService} {
		view, err := r.store.Collection(definition.Prefix).View(0)
		if err != nil {
			continue // dropped: these two never are
		}
		view.Ascend("", store.Key{}, func(o *store.Object) bool {
			sync(o.Key.Name)
			return true
		})
	}
}

func (r *Registry) collection(t Target) *store.Collection {
	return r.store.Collection(t.Definition.Prefix)
}

// admitted asks the hook about a write.
func (r *Registry) admitted(verb string, t Target, w WriteOptions, object *api.Unstructured) error {
	if r.admit == nil || w.internal {
		return nil
	}
	return r.admit(Attributes{Verb: verb, Target: t, User: w.User, Object: object})
}

// struck tells whether the hook wants a conflict.
func (r *Registry) struck(verb string, t Target, w WriteOptions, object *api.Unstructured) bool {
	return r.conflict != nil && !w.internal && r.conflict(Attributes{Verb: verb, Target: t, User: w.User, Object: object})
}

// storeError words what the store says about a write for the client.
func (r *Registry) storeError(t Target, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrDropped):
		return t.notFound()
	}
	if _, ok := errors.AsType[*api.StatusError](err); ok {
		return err // a guard's
	}
	return apierrors.InternalError(err)
}

// removed is called after an object has gone.
func (r *Registry) removed(ctx context.Context, t Target, last *store.Object) {
	switch {
	case t.Definition == r.customResources:
		r.syncCustom(last.Key.Name)
	case t.Definition == r.services:
		r.syncService(last.Key.Name)
		_, group, _ := strings.Cut(last.Key.Name, ".")
		r.registerGroup(group)
	case t.Definition.Custom:
		r.finishCustom(ctx, t.Definition.Qualified())
	}
}

// written is called after an object has been stored.
func (r *Registry) written(t Target, o *store.Object) {
	switch t.Definition {
	case r.customResources:
		r.syncCustom(o.Key.Name)
	case r.services:
		r.syncService(o.Key.Name)
	}
}
