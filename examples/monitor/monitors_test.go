package monitor_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/examples/monitor"
	"orrery/informer"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/clustertest"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/restclienttest"
)

type head = *api.PartialObjectMetadata

// world is the in-memory server and monitors of it, which record events of these types.
type world struct {
	t        *testing.T
	server   *apiserver.Server
	link     *restclienttest.Server
	client   *restclient.Client
	monitors *monitor.Monitors
	config   monitor.Config

	mu         sync.Mutex // guards the fields below; a test at rest reads them without it
	asked      int        // number of discovery requests
	discovered int        // how often the monitors reported a discovery
	fails      error      // the answer of discovery
	refused    []string
	told       []string
	known      map[string]*monitor.Resource // by UID: the resource at the last observation
}

// seen are the resources whose events a world records.
var seen = []string{"configmaps", "gizmos"}

var (
	configMaps = api.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	gizmos     = api.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gizmos"}
	types      = api.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// inWorld runs a test in a bubble, once for each set of gears. prepare changes the world before the
// monitors run.
func inWorld(t *testing.T, prepare, play func(w *world)) {
	t.Helper()
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
		require.NoError(t, err)
		w := &world{t: t, server: server, known: map[string]*monitor.Resource{}}
		w.link = restclienttest.NewServer(t, server.Handler())
		w.client = w.link.Client(func(c *restclient.Config) { c.QPS, c.Codec = -1, set.Codec() })
		w.config = monitor.Config{
			Discovery: w,
			Heads: func(resource api.GroupVersionResource, namespace string) monitor.Heads {
				return restclient.Metadata(w.client, resource, namespace)
			},
			Informer: func(api.GroupVersionResource) informer.Config[head] {
				return informer.Config[head]{Gears: gears.Informer[head](set)}
			},
			Observe: func(r *monitor.Resource, o head) {
				assert.Empty(t, o.Labels, "unused fields are dropped")
				w.note(r, "observe "+o.Name, func() { w.known[o.UID] = r })
			},
			Forget: func(r *monitor.Resource, o head) {
				w.note(r, "forget "+o.Name, func() { delete(w.known, o.UID) })
			},
			Vanished: func(r *monitor.Resource) {
				w.note(r, "vanished "+r.Resource, func() {
					maps.DeleteFunc(w.known, func(_ string, with *monitor.Resource) bool { return with == r })
				})
			},
			Discovered: func() { w.locked(func() { w.discovered++ }) },
			Refused: func(resource api.GroupVersionResource, err error) {
				w.locked(func() { w.refused = append(w.refused, resource.Resource+": "+err.Error()) })
			},
		}
		if prepare != nil {
			prepare(w)
		}
		w.monitors = monitor.New(w.config)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.monitors.Run(ctx)
		}()
		w.rest()
		play(w)
		stop()
		<-ended
		w.monitors.ShareInformers() // finds nothing
		require.NoError(t, server.Stop(context.Background()))
	})
}

// ServerGroupsAndResources counts, and fails if the test wants it.
func (w *world) ServerGroupsAndResources(ctx context.Context) ([]*api.APIGroup, []*api.APIResourceList, error) {
	var err error
	w.locked(func() { w.asked, err = w.asked+1, w.fails })
	if err != nil {
		return nil, nil, err
	}
	return discovery.NewWithConfig(w.client, discovery.Config{OnlyWhenReady: true}).ServerGroupsAndResources(ctx)
}

// locked does something with the records.
func (w *world) locked(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// note records an event of a resource, and changes what is known.
func (w *world) note(r *monitor.Resource, what string, change func()) {
	w.locked(func() {
		if slices.Contains(seen, r.Resource) {
			w.told = append(w.told, what)
		}
		change()
	})
}

func (w *world) knows(object *api.Unstructured) bool {
	w.rest()
	return w.known[object.GetUID()] != nil
}

// hear returns the records since the last call.
func (w *world) hear() []string {
	w.rest()
	told := w.told
	w.told = nil
	return told
}

func (w *world) rest() {
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

func (w *world) create(resource api.GroupVersionResource, text string) *api.Unstructured {
	w.t.Helper()
	var o api.Unstructured
	require.NoError(w.t, o.UnmarshalJSON([]byte(text)))
	created, err := restclient.Dynamic(w.client, resource, o.GetNamespace()).Create(w.t.Context(), &o, api.UpdateOptions{})
	require.NoError(w.t, err)
	return created
}

func (w *world) configMap(name string) *api.Unstructured {
	w.t.Helper()
	return w.create(configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"`+name+`","labels":{"a":"b"}}}`)
}

func (w *world) gizmo(name string) {
	w.t.Helper()
	w.create(gizmos, `{"apiVersion":"example.com/v1","kind":"Gizmo","metadata":{"namespace":"default","name":"`+name+`"}}`)
}

func (w *world) defineGizmos() {
	w.t.Helper()
	w.create(types, clustertest.Gizmos)
	w.rest()
}

func (w *world) delete(resource api.GroupVersionResource, namespace, name string) {
	w.t.Helper()
	require.NoError(w.t, restclient.Dynamic(w.client, resource, namespace).Delete(w.t.Context(), name, api.DeleteOptions{}))
}

func (w *world) fault(order string) (heal func()) {
	w.t.Helper()
	id, err := w.server.Faults().Add(order)
	require.NoError(w.t, err)
	return func() { w.server.Faults().Remove(id) }
}

func TestTypesComeAndGo(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.hear()
		for range 2 {
			_, ok := w.monitors.Find("example.com/v1", "Gizmo")
			assert.False(t, ok)
			w.defineGizmos()
			r, ok := w.monitors.Find("example.com/v1", "Gizmo")
			require.True(t, ok)
			assert.Equal(t, gizmos, r.GroupVersionResource)
			assert.True(t, r.Namespaced)
			w.gizmo("g")
			assert.Equal(t, []string{"observe g"}, w.hear())
			w.delete(types, "", "gizmos.example.com")
			assert.Equal(t, []string{"forget g", "vanished gizmos"}, w.hear())
		}
	})
}

// An owner reference may name any version of a type, and any string.
func TestFind(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		r, ok := w.monitors.Find("v1", "Node")
		require.True(t, ok)
		assert.Equal(t, "nodes", r.Resource)
		assert.False(t, r.Namespaced)
		for _, apiVersion := range []string{"v2", "a/b/c", ""} {
			_, ok = w.monitors.Find(apiVersion, "Node")
			assert.False(t, ok, apiVersion)
		}
	})
}

// Types follow discovery where it is certain; the types of a group that does not answer stay.
func TestAGroupThatDoesNotAnswer(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.defineGizmos()
		w.gizmo("g")
		w.hear()
		w.locked(func() { w.fails = errors.New("no answer at all") })
		time.Sleep(time.Minute)
		assert.Empty(t, w.hear())
		assert.Contains(t, w.refused, ": no answer at all")
		w.locked(func() { w.fails = nil })
		heal := w.fault("broken-group:group=example.com,version=v1")
		time.Sleep(10 * time.Minute)
		assert.Empty(t, w.hear())
		_, ok := w.monitors.Find("example.com/v1", "Gizmo")
		assert.True(t, ok)
		heal()
		time.Sleep(10 * time.Minute)
		w.gizmo("h")
		assert.Equal(t, []string{"observe h"}, w.hear())
	})
}

func TestDiscoveryIsNotAskedTooOften(t *testing.T) {
	inWorld(t, func(w *world) { w.config.DiscoveryPeriod = time.Hour }, func(w *world) {
		w.rest()
		before := w.asked
		assert.Positive(t, before)
		for i := range 20 {
			name := "t" + string(rune('a'+i))
			w.create(types, strings.NewReplacer("gizmo", name, "Gizmo", "K"+name).Replace(clustertest.Gizmos))
		}
		w.rest()
		asked := w.asked
		assert.LessOrEqual(t, asked-before, 5, "once a second")
		assert.Equal(t, asked, w.discovered)
		_, ok := w.monitors.Find("example.com/v1", "Ktt")
		assert.True(t, ok)
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, 1, w.asked-asked)
	})
}

// A slow informer delays the others, but not forever.
func TestSynced(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fault("unavailable:resource=configmaps,verb=list|watch")
		assert.False(t, monitor.New(w.config).Synced(), "no type is known")
	}, func(w *world) {
		assert.False(t, w.monitors.Synced())
		time.Sleep(30 * time.Second)
		assert.True(t, w.monitors.Synced())
	})
}

// other is another controller's informer of one type, which the monitors may share.
type other struct {
	resource api.GroupVersionResource
	made     *informer.SharedIndexInformer[head] // nil: there is none
}

func (o *other) addHandler(resource api.GroupVersionResource, handler informer.ResourceEventHandler[head]) (informer.InformerSynced, func(), bool) {
	if o.made == nil || resource != o.resource {
		return nil, nil, false
	}
	registration, err := o.made.AddEventHandler(handler)
	if err != nil {
		return nil, nil, false
	}
	leave := func() { _ = o.made.ShutDownEventHandler(context.Background(), registration) }
	return registration.HasSynced, leave, true
}

func (o *other) make(w *world) {
	o.made = informer.NewSharedIndexInformer(restclient.Metadata(w.client, o.resource, ""), informer.Config[head]{
		Transform: func(object head) (head, error) {
			object.Labels = nil
			return object, nil
		},
	})
}

// run runs the informer until the end of the test.
func (o *other) run(w *world) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = o.made.Run(ctx)
	}()
	w.t.Cleanup(func() { stop(); <-ended })
}

func (w *world) watches() int64 { return w.server.Snapshot().Watches }

// The informer of another controller replaces the monitor's own. No object is lost, and none that
// was deleted meanwhile is kept.
func TestAnInformerThatAppearsIsShared(t *testing.T) {
	shared := &other{resource: configMaps}
	inWorld(t, func(w *world) {
		shared.made = nil
		w.config.Shared = shared.addHandler
	}, func(w *world) {
		before := w.watches()
		kept, lost := w.configMap("kept"), w.configMap("lost")
		w.hear()
		shared.make(w)
		w.monitors.ShareInformers()
		w.rest()
		assert.Equal(t, before-1, w.watches(), "the monitor's own informer ends before the other begins")
		assert.False(t, w.monitors.Synced())
		assert.True(t, w.knows(kept) && w.knows(lost))
		assert.Empty(t, w.hear())
		w.delete(configMaps, "default", "lost")
		shared.run(w)
		told := w.hear()
		assert.Equal(t, before, w.watches())
		assert.True(t, w.monitors.Synced())
		assert.Contains(t, told, "observe kept")
		assert.Equal(t, "vanished configmaps", told[len(told)-1], "the monitor of the previous type vanishes last")
		assert.True(t, w.knows(kept), "the object that both informers have seen has not vanished")
		assert.False(t, w.knows(lost), "the object that was deleted in between has vanished")
		w.configMap("new")
		assert.Equal(t, []string{"observe new"}, w.hear())
	})
}

func TestATypeWithASharedInformerVanishes(t *testing.T) {
	shared := &other{resource: gizmos}
	inWorld(t, func(w *world) {
		shared.made = nil
		w.config.Shared = shared.addHandler
	}, func(w *world) {
		w.defineGizmos()
		w.gizmo("g")
		w.hear()
		shared.make(w)
		w.monitors.ShareInformers()
		w.delete(types, "", "gizmos.example.com") // before the other informer has run
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"vanished gizmos", "vanished gizmos"}, w.hear())
		shared.run(w)
		w.defineGizmos()
		w.gizmo("h")
		time.Sleep(2 * time.Minute) // the other informer has received a 404 meanwhile
		assert.Contains(t, w.hear(), "observe h")
	})
}
