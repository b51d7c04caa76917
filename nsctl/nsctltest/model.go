package nsctltest

import (
	"context"
	"flag"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/informer"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

var (
	modelSeed  = flag.Uint64("seed", 1, "the first seed of the model test")
	modelSteps = flag.Int("steps", 100_000,
		"how many requests and events the model test goes through at least; one short world with -short")
)

// lengths returns how many steps the model test has, and how many one world. The race detector makes
// it eight times as slow, so .ci/test runs a short world with it, and the whole without.
func lengths() (all, world int) {
	if testing.Short() {
		return 1, 2_000
	}
	return *modelSteps, 5_000
}

// Requests fail, are forbidden, get lost, are slow or hang. No namespace with content is finalized,
// nothing is deleted in a namespace that is not being deleted, and pods are deleted before
// everything else. Once the faults end, every namespace disappears.
func (s suite) TheDeleterNeverFinalizesANamespaceWithContent(t *testing.T) {
	done, gone := 0, 0
	all, _ := lengths()
	for seed := *modelSeed; done < all; seed++ {
		w := s.runWorld(t, seed)
		require.Empty(t, w.violations, "replay with the same flags, -seed=%d -steps=1", seed)
		require.Empty(t, w.lingering, "seed %d: the faults ended long ago", seed)
		done += w.steps
		gone += w.gone()
	}
	t.Logf("seeds from %d: %d steps, %d namespaces deleted", *modelSeed, done, gone)
	assert.Greater(t, gone, done/1000, "there was something to look at")
}

// A seed determines the whole run, however goroutines are scheduled.
func (s suite) TheModelReplays(t *testing.T) {
	first, second := s.runWorld(t, 7), s.runWorld(t, 7)
	assert.Equal(t, first.story, second.story)
}

// withoutJitter makes the pauses after conflicts the same in each run.
var withoutJitter = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Steps: 6, Cap: time.Second}

// worldResync is longer than the run. Its resync comes afterwards, so the seed alone orders the
// events.
const worldResync = time.Hour

// lived is a world at its end.
type lived struct {
	*world
	story     map[string]uint64 // number of requests when the faults ended
	lingering []string          // namespaces still terminating although nothing holds them
}

func (s suite) runWorld(t *testing.T, seed uint64) (l lived) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(seed)
		namespaces := restclient.Typed[*api.Namespace](NewClient(t, w.cluster), api.NamespacesResource, "")
		shared := informer.NewSharedIndexInformer(namespaces, informer.Config[*api.Namespace]{
			Name: "namespaces", ResyncPeriod: worldResync,
		})
		deleter := w.deleterConfig(t)
		deleter.Concurrency, deleter.ConflictBackoff = 4, withoutJitter
		config := nsctl.Config{Informer: shared, Pool: controller.PoolConfig{Workers: 6}, ResyncPeriod: worldResync,
			Trace: &nsctl.Trace{PassContext: w.passContext}}
		config.Deleter = s.New(deleter)
		c, err := nsctl.NewController(config)
		require.NoError(t, err)
		stopInformer := running(t, func(ctx context.Context) { _ = shared.Run(ctx) })
		stop := running(t, c.Run)

		fate := &fate{world: w}
		_, steps := lengths()
		fate.rage(steps)
		l = lived{world: w}
		w.mu.Lock()
		l.story = maps.Clone(w.asked)
		w.mu.Unlock()
		l.lingering = fate.lingering(3 * worldResync)
		stop()
		stopInformer()
	})
	return l
}

// gone returns the number of namespaces that have gone.
func (w *world) gone() (count int) {
	for _, change := range w.cluster.changes {
		if change.eventType == api.WatchDeleted {
			count++
		}
	}
	return count
}
