package garbagecollector

import (
	"context"
	"errors"
	"sync"
	"time"

	"orrery/informer"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/wait"
)

// monitors are the informers of all types whose objects can be watched and deleted, of metadata
// only. Types come and go while they run: discovery runs once a period and after a change of types,
// but at most once a second. The types of a group that does not answer stay as they were.
//
//	discovery ──▶ types ──▶ one informer each ── observe, forget, vanish ──▶ the graph
//	    ▲                        │
//	    └── a CustomResourceDefinition or an APIService has changed
//
// If the server refuses to list a type, Trace.Refused is called once, hasSynced does not wait for
// the type, and its informer tries again.
type monitors struct {
	config  Config
	graph   *graph
	changed chan struct{} // a type may have appeared or vanished
	running sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	types   types
	watched map[api.GroupVersionResource]*monitor
}

// monitor is the informer of a type.
type monitor struct {
	synced  informer.InformerSynced
	stop    context.CancelFunc
	began   time.Time
	refused bool // guarded by monitors.mu
}

// discoveryPause bounds the rate of discovery, and gives the server a moment to serve a new type.
const discoveryPause = time.Second

// run keeps the informers in step with the types that the server has, until ctx ends. It returns
// when all informers have ended. It may be called once.
func (m *monitors) run(ctx context.Context) {
	for ctx.Err() == nil {
		m.discover(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(m.config.DiscoveryPeriod):
		case <-m.changed:
			_ = wait.Sleep(ctx, discoveryPause) // the loop looks whether ctx has ended
		}
	}
	m.running.Wait()
}

// discover asks the server for its types. Groups that do not answer stay as they were.
func (m *monitors) discover(ctx context.Context) {
	_, lists, err := m.config.Discovery.ServerGroupsAndResources(ctx)
	partial, _ := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
	if err != nil && ctx.Err() == nil {
		m.refused(api.GroupVersionResource{}, err)
	}
	if err != nil && partial == nil {
		return
	}
	var failed map[api.GroupVersion]error
	if partial != nil {
		failed = partial.Groups
	}
	m.follow(ctx, typesOf(lists), failed)
	m.graph.queuePending() // the type of an owner may have appeared
}

// follow starts and stops informers, so that each type has one.
func (m *monitors) follow(ctx context.Context, found types, failed map[api.GroupVersion]error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found.keep(m.types, failed)
	m.types = found
	for gvr, one := range m.watched {
		if found.deletable[gvr] == nil {
			one.stop()
			delete(m.watched, gvr)
		}
	}
	for gvr, r := range found.deletable {
		if m.watched[gvr] == nil {
			m.watched[gvr] = m.watch(ctx, r)
		}
	}
}

// watch watches a type with a new informer.
func (m *monitors) watch(ctx context.Context, r *Resource) *monitor {
	ctx, stop := context.WithCancel(ctx)
	one := &monitor{stop: stop, began: time.Now()}
	config := m.config.Informer(r.GroupVersionResource)
	config.Name = r.TypeName()
	config.Transform = strip
	config.WatchErrorHandler = func(_ context.Context, err error) { m.failed(r, one, err) }
	made := informer.NewSharedIndexInformer[*api.PartialObjectMetadata](m.config.Heads(r.GroupVersionResource,
		""), config)
	registration, err := made.AddEventHandler(m.handler(r))
	if err != nil { // it has not been started, so it has not stopped
		panic(err)
	}
	one.synced = registration.HasSynced
	m.running.Go(func() {
		_ = made.Run(ctx) // an error says that it has been started before
		m.graph.vanish(r)
	})
	return one
}

// strip drops the larger parts of the metadata: such controllers do not need them, and keep all
// objects of the cluster.
func strip(object *api.PartialObjectMetadata) (*api.PartialObjectMetadata, error) {
	object.Labels, object.Annotations, object.ManagedFields = nil, nil, api.ManagedFields{}
	return object, nil
}

func (m *monitors) handler(r *Resource) informer.ResourceEventHandler[*api.PartialObjectMetadata] {
	observe := func(object *api.PartialObjectMetadata) {
		m.graph.observe(r, object)
		m.noteChange(r)
	}
	return informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc: func(object *api.PartialObjectMetadata, _ bool) { observe(object) },
		UpdateFunc: func(old, object *api.PartialObjectMetadata) {
			if old.UID != object.UID { // deleted and created again in a gap of the watch
				m.graph.forget(r, old.UID)
			}
			observe(object)
		},
		DeleteFunc: func(deleted informer.DeletedObject[*api.PartialObjectMetadata]) {
			m.graph.forget(r, deleted.Object.UID)
			m.noteChange(r)
		},
	}
}

// noteChange asks for discovery if objects of this type add types or remove them.
func (m *monitors) noteChange(r *Resource) {
	if r.Kind != "CustomResourceDefinition" && r.Kind != "APIService" {
		return
	}
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// failed records that the server refuses a type. The informer tries again, as after every failure.
func (m *monitors) failed(r *Resource, one *monitor, err error) {
	if !api.IsForbidden(err) && !api.IsNotFound(err) && !api.IsMethodNotAllowed(err) {
		return
	}
	m.mu.Lock()
	reported := one.refused
	one.refused = true
	m.mu.Unlock()
	if !reported {
		m.refused(r.GroupVersionResource, err)
	}
}

func (m *monitors) refused(resource api.GroupVersionResource, err error) {
	if hook := m.config.Trace.Refused; hook != nil {
		hook(resource, err)
	}
}

// syncTimeout is how long hasSynced waits for the first list of a type.
const syncTimeout = 30 * time.Second

// hasSynced reports whether the graph has the objects of all types, except for types that are
// refused or take too long.
func (m *monitors) hasSynced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.watched {
		if !one.refused && !one.synced() && time.Since(one.began) < syncTimeout {
			return false
		}
	}
	return len(m.watched) > 0
}

// find returns the type that an owner reference names; false if the server does not have it.
func (m *monitors) find(apiVersion, kind string) (*Resource, bool) {
	version, err := api.ParseGroupVersion(apiVersion)
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.types.kinds[api.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: kind}]
	return r, ok && err == nil
}
