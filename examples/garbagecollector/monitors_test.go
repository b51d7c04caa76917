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

// counted counts the requests for types.
type counted struct {
	garbagecollector.Discovery
	asked *atomic.Int64
}

func (c counted) ServerGroupsAndResources(ctx context.Context) ([]*api.APIGroup, []*api.APIResourceList, error) {
	c.asked.Add(1)
	return c.Discovery.ServerGroupsAndResources(ctx)
}

// Types that appear together are discovered together.
func TestDiscoveryIsNotAskedTooOften(t *testing.T) {
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		var asked atomic.Int64
		w := newWorld(t, set)
		w.adjust = func(config *garbagecollector.Config) {
			config.DiscoveryPeriod = time.Hour
			config.Discovery = counted{config.Discovery, &asked}
		}
		w.start(nil)
		before := asked.Load()
		assert.Positive(t, before)
		for i := range 20 {
			name := "t" + string(rune('a'+i))
			definition := strings.NewReplacer("gizmo", name, "Gizmo", "K"+name).Replace(clustertest.Gizmos)
			w.Must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
		}
		w.rest()
		after := asked.Load()
		assert.LessOrEqual(t, after-before, int64(5), "once a second")
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.EqualValues(t, 1, asked.Load()-after)
	})
}

// A slow informer delays the passes, but not forever.
func TestATypeThatCannotBeListedIsWaitedFor(t *testing.T) {
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		w := newWorld(t, set)
		w.Fault("unavailable:resource=configmaps,verb=list|watch")
		w.in(w.resource("secrets"), "child", owned("owner", "never-was"))
		w.start(nil)
		w.rest()
		assert.NotNil(t, w.find("secrets", "child"))
		time.Sleep(20 * time.Second)
		assert.Nil(t, w.find("secrets", "child"))
	})
}
