package garbagecollector

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/informer"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/wait"
)

// monitors are the informers of all types whose objects can be deleted. Types come and go while they run.
type monitors struct {
	config Config
	graph  *graph
	// poked says that a type may have appeared or vanished.
	poked   chan struct{}
	running sync.WaitGroup

	mu         sync.Mutex // guards the rest
	discovered bool
	// kinds are all types in all their versions: owner references name a kind. watched are those that have an informer.
	kinds   map[api.GroupVersionKind]*resource
	watched map[api.GroupVersionResource]*monitor
}

// monitor is the informer of a type.
type monitor struct {
	resource *resource
	synced   informer.InformerSynced
	stop     context.CancelFunc
	began    time.Time
	refused  bool // guarded by monitors.mu
}

func newMonitors(config Config, g *graph) *monitors {
	return &monitors{
		config: config, graph: g, poked: make(chan struct{}, 1),
		kinds: map[api.GroupVersionKind]*resource{}, watched: map[api.GroupVersionResource]*monitor{},
	}
}

// run keeps the informers in step with the types that the server has, until ctx ends and all of them have.
func (m *monitors) run(ctx context.Context) {
	for ctx.Err() == nil {
		m.refresh(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(m.config.DiscoveryPeriod):
		case <-m.poked:
			_ = wait.Sleep(ctx, discoveryPause) // the loop looks whether ctx has ended
		}
	}
	m.running.Wait()
}

// poke asks for a look at the types. It does not block.
func (m *monitors) poke() {
	select {
	case m.poked <- struct{}{}:
	default:
	}
}

// refresh asks the server for its types. What it does not tell about stays as it was.
func (m *monitors) refresh(ctx context.Context) {
	_, lists, err := m.config.Discovery.ServerGroupsAndResources(ctx)
	var failed map[api.GroupVersion]error
	if err != nil {
		partial, ok := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
		if ctx.Err() == nil {
			m.config.Trace.DiscoveryFailed(err)
		}
		if !ok {
			return
		}
		failed = partial.Groups
	}
	kinds, wanted := typesOf(lists)
	m.mu.Lock()
	defer m.mu.Unlock()
	for kind, r := range m.kinds {
		if _, unknown := failed[r.GroupVersion()]; unknown {
			kinds[kind] = r
		}
	}
	changed := !m.discovered || len(kinds) != len(m.kinds)
	m.kinds, m.discovered = kinds, true
	for gvr, one := range m.watched {
		if _, unknown := failed[gvr.GroupVersion()]; !unknown && wanted[gvr] == nil {
			one.stop()
			delete(m.watched, gvr)
			changed = true
		}
	}
	for gvr, r := range wanted {
		if m.watched[gvr] == nil {
			m.watchLocked(ctx, r)
			changed = true
		}
	}
	if changed { // owners may be of a kind that has become known
		for _, uid := range m.graph.deletable() {
			m.graph.attemptToDelete(uid)
		}
	}
}

// typesOf reads the lists of a server, which has the preferred version of each group first. All types have a kind; those whose
// objects can be deleted are wanted, once in each group.
func typesOf(lists []*api.APIResourceList) (kinds map[api.GroupVersionKind]*resource, wanted map[api.GroupVersionResource]*resource) {
	kinds, wanted = map[api.GroupVersionKind]*resource{}, map[api.GroupVersionResource]*resource{}
	seen := map[string]bool{}
	for _, list := range lists {
		version, err := api.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, one := range list.Resources {
			if strings.Contains(one.Name, "/") || !slices.Contains(one.Verbs, "get") {
				continue
			}
			r := &resource{GroupVersionResource: version.WithResource(one.Name), kind: one.Kind, namespaced: one.Namespaced}
			kinds[api.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: one.Kind}] = r
			name := r.GroupResource()
			can := func(verb string) bool { return slices.Contains(one.Verbs, verb) }
			if can("delete") && can("list") && can("watch") && !ignored[name] && !seen[name] {
				seen[name] = true
				wanted[r.GroupVersionResource] = r
			}
		}
	}
	return kinds, wanted
}

// watchLocked starts the informer of a type. When it has ended, its objects are forgotten.
func (m *monitors) watchLocked(ctx context.Context, r *resource) {
	one := &monitor{resource: r, began: time.Now()}
	ctx, one.stop = context.WithCancel(ctx)
	config := m.config.Informer(r.GroupVersionResource)
	config.Name = strings.TrimSuffix(r.GroupResource(), ".")
	config.Transform = strip
	config.WatchErrorHandler = func(_ context.Context, err error) { m.failed(one, err) }
	made := informer.NewSharedIndexInformer[*api.PartialObjectMetadata](m.config.Heads(r.GroupVersionResource, ""), config)
	registration, err := made.AddEventHandler(m.handler(r))
	if err != nil { // it has not been started, so it has not stopped
		panic(err)
	}
	one.synced = registration.HasSynced
	m.watched[r.GroupVersionResource] = one
	m.config.Trace.Watching(r.GroupVersionResource)
	m.running.Go(func() {
		_ = made.Run(ctx) // an error says that it has been started before
		m.graph.forgetAll(r)
		m.config.Trace.Unwatched(r.GroupVersionResource)
	})
}

// strip drops what the graph does not need: it keeps all objects of the cluster.
func strip(object *api.PartialObjectMetadata) (*api.PartialObjectMetadata, error) {
	object.Labels, object.Annotations, object.ManagedFields = nil, nil, api.ManagedFields{}
	return object, nil
}

func (m *monitors) handler(r *resource) informer.ResourceEventHandler[*api.PartialObjectMetadata] {
	definesTypes := r.kind == "CustomResourceDefinition" || r.kind == "APIService"
	look := func() {
		if definesTypes {
			m.poke()
		}
	}
	return informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc: func(object *api.PartialObjectMetadata, initial bool) {
			m.graph.observe(r, object)
			if !initial {
				look()
			}
		},
		UpdateFunc: func(old, object *api.PartialObjectMetadata) {
			if old.UID != object.UID { // deleted and created again in a gap of the watch
				m.graph.forget(r, old.UID)
			}
			m.graph.observe(r, object)
			look()
		},
		DeleteFunc: func(deleted informer.DeletedObject[*api.PartialObjectMetadata]) {
			m.graph.forget(r, deleted.Object.UID)
			look()
		},
	}
}

// failed notes that a type cannot be watched. Only a refusal counts: everything else is repeated by the informer, and waited for.
func (m *monitors) failed(one *monitor, err error) {
	if !api.IsForbidden(err) && !api.IsNotFound(err) && !api.IsMethodNotAllowed(err) {
		return
	}
	m.mu.Lock()
	told := one.refused
	one.refused = true
	m.mu.Unlock()
	if !told {
		m.config.Trace.Refused(one.resource.GroupVersionResource, err)
	}
}

// synced reports whether the graph has all objects of all types that can be seen. A type that is refused, or takes very long, is
// not waited for: the deletion of an object whose owners are gone is safe without, as the server is asked.
func (m *monitors) synced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.watched {
		if !one.refused && !one.synced() && time.Since(one.began) < syncPatience {
			return false
		}
	}
	return m.discovered
}

// find returns the type that an owner reference names; false if the server does not have it.
func (m *monitors) find(apiVersion, kind string) (*resource, bool) {
	version, err := api.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.kinds[api.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: kind}]
	return r, ok
}
