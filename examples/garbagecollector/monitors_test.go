package garbagecollector_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/controller/gears"
	"orrery/examples/garbagecollector"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// monitor runs monitors with each set of gears. prepare changes the world and the configuration
// before they run.
func monitor(
	t *testing.T, prepare func(w *world, config *garbagecollector.MonitorConfig),
	play func(w *world, monitors *garbagecollector.Monitors),
) {
	t.Helper()
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		w := newWorld(t, set)
		config := w.watching(w.client(nil))
		config.Observe = func(_ *garbagecollector.Resource, o head) {
			assert.Empty(t, o.Labels, "unused fields are dropped")
		}
		config.Forget = func(*garbagecollector.Resource, head) {}
		config.Vanished = func(*garbagecollector.Resource) {}
		prepare(w, &config)
		monitors := garbagecollector.NewMonitors(config)
		stop, ended := w.Start(func(ctx context.Context) error {
			monitors.Run(ctx)
			return nil
		})
		w.rest()
		play(w, monitors)
		stop()
		<-ended
	})
}

// counted counts the requests for types.
type counted struct {
	garbagecollector.Discovery
	asked *atomic.Int64
}

func (c counted) ServerGroupsAndResources(ctx context.Context) ([]*api.APIGroup, []*api.APIResourceList, error) {
	c.asked.Add(1)
	return c.Discovery.ServerGroupsAndResources(ctx)
}

// Types that appear together are discovered together. An owner reference may name any version of
// them, and any string.
func TestDiscoveryIsNotAskedTooOften(t *testing.T) {
	var asked, discovered atomic.Int64
	monitor(t, func(_ *world, config *garbagecollector.MonitorConfig) {
		asked.Store(0)
		discovered.Store(0)
		config.DiscoveryPeriod = time.Hour
		config.Discovery = counted{config.Discovery, &asked}
		config.Discovered = func() { discovered.Add(1) }
	}, func(w *world, monitors *garbagecollector.Monitors) {
		before := asked.Load()
		assert.Positive(w.t, before)
		for i := range 20 {
			name := "t" + string(rune('a'+i))
			definition := strings.NewReplacer("gizmo", name, "Gizmo", "K"+name).Replace(clustertest.Gizmos)
			w.Must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
		}
		w.rest()
		after := asked.Load()
		assert.LessOrEqual(w.t, after-before, int64(5), "once a second")
		assert.Equal(w.t, after, discovered.Load())
		for apiVersion, known := range map[string]bool{"example.com/v1": true, "v2": false, "a/b/c": false, "": false} {
			_, found := monitors.Find(apiVersion, "Ktt")
			assert.Equal(w.t, known, found, apiVersion)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.EqualValues(w.t, 1, asked.Load()-after)
	})
}

// A slow informer delays the others, but not forever.
func TestSynced(t *testing.T) {
	monitor(t, func(w *world, config *garbagecollector.MonitorConfig) {
		w.Fault("unavailable:resource=configmaps,verb=list|watch")
		assert.False(t, garbagecollector.NewMonitors(*config).Synced(), "no type is known")
	}, func(w *world, monitors *garbagecollector.Monitors) {
		assert.False(w.t, monitors.Synced())
		time.Sleep(30 * time.Second)
		assert.True(w.t, monitors.Synced())
	})
}
