package garbagecollector

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"orrery/informer"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/wait"
)

// Monitors are the informers of all types whose objects can be watched and deleted, of metadata
// only. Types come and go while they run: discovery runs once a period and after a change of types,
// but at most once a second. The types of a group that does not answer stay as they were.
//
//	discovery ──▶ types ──▶ one informer each ── Observe, Forget, Vanished ──▶ the controller
//	    ▲                        │
//	    └── a CustomResourceDefinition or an APIService has changed
//
// If the server refuses to list a type, Refused is called once, Synced does not wait for the type,
// and its informer tries again.
type Monitors struct {
	config  MonitorConfig
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
	refused bool // guarded by Monitors.mu
}

// NewMonitors returns monitors that do not run yet.
func NewMonitors(config MonitorConfig) *Monitors {
	return &Monitors{config: config.withDefaults(), changed: make(chan struct{}, 1), watched: map[api.GroupVersionResource]*monitor{}}
}

// discoveryPause bounds the rate of discovery, and gives the server a moment to serve a new type.
const discoveryPause = time.Second

// Run keeps the informers in step with the types that the server has, until ctx ends. It returns
// when all informers have ended. It may be called once.
func (m *Monitors) Run(ctx context.Context) {
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
func (m *Monitors) discover(ctx context.Context) {
	_, lists, err := m.config.Discovery.ServerGroupsAndResources(ctx)
	partial, _ := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
	if err != nil && ctx.Err() == nil {
		m.config.Refused(api.GroupVersionResource{}, err)
	}
	if err != nil && partial == nil {
		return
	}
	found := typesOf(lists)
	m.mu.Lock()
	defer m.mu.Unlock()
	if partial != nil {
		found.keep(m.types, partial.Groups)
	}
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
	m.config.Discovered()
}

// watch watches a type with a new informer.
func (m *Monitors) watch(ctx context.Context, r *Resource) *monitor {
	ctx, stop := context.WithCancel(ctx)
	one := &monitor{stop: stop, began: time.Now()}
	config := m.config.Informer(r.GroupVersionResource)
	config.Name = strings.TrimSuffix(r.GroupResource(), ".")
	config.Transform = strip
	config.WatchErrorHandler = func(_ context.Context, err error) { m.failed(r, one, err) }
	made := informer.NewSharedIndexInformer[*api.PartialObjectMetadata](m.config.Heads(r.GroupVersionResource, ""), config)
	registration, err := made.AddEventHandler(m.handler(r))
	if err != nil { // it has not been started, so it has not stopped
		panic(err)
	}
	one.synced = registration.HasSynced
	m.running.Go(func() {
		_ = made.Run(ctx) // an error says that it has been started before
		m.config.Vanished(r)
	})
	return one
}

// strip drops the larger parts of the metadata: such controllers do not need them, and keep all
// objects of the cluster.
func strip(object *api.PartialObjectMetadata) (*api.PartialObjectMetadata, error) {
	object.Labels, object.Annotations, object.ManagedFields = nil, nil, api.ManagedFields{}
	return object, nil
}

func (m *Monitors) handler(r *Resource) informer.ResourceEventHandler[*api.PartialObjectMetadata] {
	observe := func(object *api.PartialObjectMetadata) {
		m.config.Observe(r, object)
		m.noteChange(r)
	}
	return informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc: func(object *api.PartialObjectMetadata, _ bool) { observe(object) },
		UpdateFunc: func(old, object *api.PartialObjectMetadata) {
			if old.UID != object.UID { // deleted and created again in a gap of the watch
				m.config.Forget(r, old)
			}
			observe(object)
		},
		DeleteFunc: func(deleted informer.DeletedObject[*api.PartialObjectMetadata]) {
			m.config.Forget(r, deleted.Object)
			m.noteChange(r)
		},
	}
}

// noteChange asks for discovery if objects of this type add types or remove them.
func (m *Monitors) noteChange(r *Resource) {
	if r.Kind != "CustomResourceDefinition" && r.Kind != "APIService" {
		return
	}
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// failed records that the server refuses a type. The informer tries again, as after every failure.
func (m *Monitors) failed(r *Resource, one *monitor, err error) {
	if !api.IsForbidden(err) && !api.IsNotFound(err) && !api.IsMethodNotAllowed(err) {
		return
	}
	m.mu.Lock()
	reported := one.refused
	one.refused = true
	m.mu.Unlock()
	if !reported {
		m.config.Refused(r.GroupVersionResource, err)
	}
}

// syncTimeout is how long Synced waits for the first list of a type.
const syncTimeout = 30 * time.Second

// Synced reports whether Observe was called with the objects of all types, except for types that
// are refused or take too long.
func (m *Monitors) Synced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.watched {
		if !one.refused && !one.synced() && time.Since(one.began) < syncTimeout {
			return false
		}
	}
	return len(m.watched) > 0
}

// Find returns the type that an owner reference names; false if the server does not have it.
func (m *Monitors) Find(apiVersion, kind string) (*Resource, bool) {
	version, err := api.ParseGroupVersion(apiVersion)
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.types.kinds[api.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: kind}]
	return r, ok && err == nil
}
