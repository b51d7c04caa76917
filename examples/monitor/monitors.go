package monitor

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

// Monitors are the informers of all types whose objects can be watched and deleted. Types come and go while they run.
type Monitors struct {
	config  Config
	changed chan struct{} // a type may have appeared or vanished
	running sync.WaitGroup

	mu      sync.Mutex // guards the rest
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

// New returns monitors that do not run yet.
func New(config Config) *Monitors {
	return &Monitors{config: config.withDefaults(), changed: make(chan struct{}, 1), watched: map[api.GroupVersionResource]*monitor{}}
}

// discoveryPause bounds the rate of discovery, and gives the server a moment to serve a new type.
const discoveryPause = time.Second

// Run keeps the informers in step with the types that the server has, until ctx ends and all of them have.
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

// discover asks the server for its types. What it does not tell about stays as it was.
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

// watch starts the informer of a type. When it has ended, the type has vanished.
func (m *Monitors) watch(ctx context.Context, r *Resource) *monitor {
	ctx, stop := context.WithCancel(ctx)
	one := &monitor{stop: stop, began: time.Now()}
	if m.config.Shared != nil {
		if synced, leave, ok := m.config.Shared(r.GroupVersionResource, m.handler(r)); ok {
			one.synced = synced
			m.running.Go(func() {
				<-ctx.Done()
				leave()
				m.config.Vanished(r)
			})
			return one
		}
	}
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

// strip drops the larger parts of a head, which such controllers do not need: they keep all objects of the cluster.
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

// noteChange asks for discovery if an object of this type brings types or takes them away.
func (m *Monitors) noteChange(r *Resource) {
	if r.Kind != "CustomResourceDefinition" && r.Kind != "APIService" {
		return
	}
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// failed notes that a type is refused. The informer tries it again, as it does after every failure.
func (m *Monitors) failed(r *Resource, one *monitor, err error) {
	if !api.IsForbidden(err) && !api.IsNotFound(err) && !api.IsMethodNotAllowed(err) {
		return
	}
	m.mu.Lock()
	told := one.refused
	one.refused = true
	m.mu.Unlock()
	if !told {
		m.config.Refused(r.GroupVersionResource, err)
	}
}

// syncPatience is how long the first list of a type is waited for.
const syncPatience = 30 * time.Second

// Synced reports whether Observe was called with the objects of all types that can be seen. One that is refused, or takes too long, is
// done without.
func (m *Monitors) Synced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.watched {
		if !one.refused && !one.synced() && time.Since(one.began) < syncPatience {
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
