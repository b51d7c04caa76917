package garbagecollector_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/examples/garbagecollector"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// monitored is a world with monitors instead of a collector. They record events of ConfigMaps and
// gizmos.
type monitored struct {
	*world
	monitors  *garbagecollector.Monitors
	config    garbagecollector.MonitorConfig
	discovery garbagecollector.Discovery

	// Guarded by mu; a test at rest reads them without it.
	asked      int                                   // number of discovery requests
	discovered int                                   // how often the monitors reported a discovery
	fails      error                                 // the answer of discovery
	known      map[string]*garbagecollector.Resource // by UID: the resource at the last observation
}

var gizmos = api.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gizmos"}

// monitor runs a test with each set of gears. prepare changes the world before the monitors run.
func monitor(t *testing.T, prepare, play func(w *monitored)) {
	t.Helper()
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		w := &monitored{world: newWorld(t, set), known: map[string]*garbagecollector.Resource{}}
		w.config = w.watching(w.client(nil))
		w.discovery, w.config.Discovery = w.config.Discovery, w
		w.config.Observe = func(r *garbagecollector.Resource, o head) {
			assert.Empty(t, o.Labels, "unused fields are dropped")
			w.sees(r, "observe "+o.Name, func() { w.known[o.UID] = r })
		}
		w.config.Forget = func(r *garbagecollector.Resource, o head) {
			w.sees(r, "forget "+o.Name, func() { delete(w.known, o.UID) })
		}
		w.config.Vanished = func(r *garbagecollector.Resource) {
			w.sees(r, "vanished "+r.Resource, func() {
				maps.DeleteFunc(w.known, func(_ string, with *garbagecollector.Resource) bool { return with == r })
			})
		}
		w.config.Discovered = func() { w.locked(func() { w.discovered++ }) }
		w.config.Refused = func(r api.GroupVersionResource, _ error) {
			if r.Resource == "" {
				w.note("discovery fails")
			}
		}
		if prepare != nil {
			prepare(w)
		}
		w.monitors = garbagecollector.NewMonitors(w.config)
		stop, ended := w.Start(func(ctx context.Context) error {
			w.monitors.Run(ctx)
			return nil
		})
		w.rest()
		play(w)
		stop()
		<-ended
	})
}

// ServerGroupsAndResources counts, and fails if the test wants it.
func (w *monitored) ServerGroupsAndResources(
	ctx context.Context,
) ([]*api.APIGroup, []*api.APIResourceList, error) {
	var err error
	w.locked(func() { w.asked, err = w.asked+1, w.fails })
	if err != nil {
		return nil, nil, err
	}
	return w.discovery.ServerGroupsAndResources(ctx)
}

// locked does something with the records.
func (w *monitored) locked(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// sees records an event of a resource, and changes what is known.
func (w *monitored) sees(r *garbagecollector.Resource, what string, change func()) {
	w.locked(change)
	if slices.Contains([]string{"configmaps", "gizmos"}, r.Resource) {
		w.note("%s", what)
	}
}

func (w *monitored) knows(uid string) bool {
	w.rest()
	return w.known[uid] != nil
}

// defineGizmos returns when the monitors know the type.
func (w *monitored) defineGizmos() {
	w.t.Helper()
	w.world.defineGizmos()
	w.rest()
}

func (w *monitored) gizmo(name string) {
	w.t.Helper()
	w.in(w.resource("gizmos"), name)
}

func TestTypesComeAndGo(t *testing.T) {
	monitor(t, nil, func(w *monitored) {
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
			w.deleteIn("customresourcedefinitions", "gizmos.example.com", "")
			assert.Equal(t, []string{"forget g", "vanished gizmos"}, w.hear())
		}
	})
}

// An owner reference may name any version of a type, and any string.
func TestFind(t *testing.T) {
	monitor(t, nil, func(w *monitored) {
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
	monitor(t, nil, func(w *monitored) {
		w.defineGizmos()
		w.gizmo("g")
		w.hear()
		onlyDiscovery := []string{"discovery fails"}
		w.locked(func() { w.fails = errors.New("no answer at all") })
		time.Sleep(time.Minute)
		assert.Equal(t, onlyDiscovery, slices.Compact(w.hear()))
		w.locked(func() { w.fails = nil })
		heal := w.Fault("broken-group:group=example.com,version=v1")
		time.Sleep(10 * time.Minute)
		assert.Equal(t, onlyDiscovery, slices.Compact(w.hear()))
		_, ok := w.monitors.Find("example.com/v1", "Gizmo")
		assert.True(t, ok)
		heal()
		time.Sleep(10 * time.Minute)
		w.gizmo("h")
		assert.Equal(t, []string{"observe h"}, w.hear())
	})
}

func TestDiscoveryIsNotAskedTooOften(t *testing.T) {
	monitor(t, func(w *monitored) { w.config.DiscoveryPeriod = time.Hour }, func(w *monitored) {
		w.rest()
		before := w.asked
		assert.Positive(t, before)
		for i := range 20 {
			name := "t" + string(rune('a'+i))
			definition := strings.NewReplacer("gizmo", name, "Gizmo", "K"+name).Replace(clustertest.Gizmos)
			w.Must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
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
	monitor(t, func(w *monitored) {
		w.Fault("unavailable:resource=configmaps,verb=list|watch")
		assert.False(t, garbagecollector.NewMonitors(w.config).Synced(), "no type is known")
	}, func(w *monitored) {
		assert.False(t, w.monitors.Synced())
		time.Sleep(30 * time.Second)
		assert.True(t, w.monitors.Synced())
	})
}
