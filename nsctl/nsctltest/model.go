package nsctltest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/nsctl"
	"orrery/restclient/api"
	"orrery/wait"
)

var (
	modelSeed  = flag.Uint64("seed", 1, "the first seed of the model test")
	modelSteps = flag.Int("steps", 100_000, "how many requests and events the model test goes through at least; a tenth of it with -short")
)

// steps is the length of the model test. The race detector makes it eight times as slow, so
// .ci/test runs a tenth of it with the race detector, and the whole without.
func steps() int {
	if testing.Short() {
		return *modelSteps / 10
	}
	return *modelSteps
}

// stepsOfAWorld is the length of one world.
const stepsOfAWorld = 5_000

// Requests fail, are forbidden, get lost, are slow or hang. No namespace with content is finalized,
// nothing is deleted in a namespace that is not being deleted, and pods are deleted before
// everything else. Once the faults end, every namespace without another party's token disappears.
func (s suite) TheDeleterNeverFinalizesANamespaceWithContent(t *testing.T) {
	done, gone := 0, 0
	for seed := *modelSeed; done < steps(); seed++ {
		w := s.runWorld(t, seed, asItIs)
		require.Empty(t, w.violations, "replay with -seed=%d -steps=1", seed)
		require.Empty(t, w.lingering, "seed %d: the faults ended long ago", seed)
		done += w.steps
		gone += w.gone
	}
	t.Logf("seeds from %d: %d steps, %d namespaces deleted", *modelSeed, done, gone)
	assert.Greater(t, gone, done/1000, "there was something to look at")
}

// A seed determines the whole run, however goroutines are scheduled.
func (s suite) TheModelReplays(t *testing.T) {
	first, second := s.runWorld(t, 7, asItIs), s.runWorld(t, 7, asItIs)
	assert.Equal(t, first.story, second.story)
}

// flaw is a wrong conclusion that a careless deleter draws from an error or a partial answer.
type flaw struct {
	worldContent
	list       func(found []*api.PartialObjectMetadata, err error) ([]*api.PartialObjectMetadata, error)
	collection func(found []*api.PartialObjectMetadata, listed bool, err error) ([]*api.PartialObjectMetadata, bool, error)
	holders    func(holders map[string]bool, complete bool, err error) (map[string]bool, bool, error)
	discovery  func(lists []*api.APIResourceList, err error) ([]*api.APIResourceList, error)
}

func (f flaw) List(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, error) {
	found, err := f.worldContent.List(ctx, gvr, namespace)
	if f.list == nil {
		return found, err
	}
	return f.list(found, err)
}

func (f flaw) Pages(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, each func([]*api.PartialObjectMetadata) error,
) error {
	found, err := f.List(ctx, gvr, namespace)
	if err != nil {
		return err
	}
	return each(found)
}

func (f flaw) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, bool, error) {
	found, listed, err := f.worldContent.DeleteCollection(ctx, gvr, namespace)
	if f.collection == nil {
		return found, listed, err
	}
	return f.collection(found, listed, err)
}

func (f flaw) Holders(ctx context.Context, gvr api.GroupVersionResource) (map[string]bool, bool, error) {
	holders, complete, err := f.worldContent.Holders(ctx, gvr)
	if f.holders == nil {
		return holders, complete, err
	}
	return f.holders(holders, complete, err)
}

func (f flaw) PreferredNamespacedResources(ctx context.Context, notOlderThan time.Time) ([]*api.APIResourceList, error) {
	lists, err := f.world.PreferredNamespacedResources(ctx, notOlderThan)
	if f.discovery == nil {
		return lists, err
	}
	return f.discovery(lists, err)
}

// versionBound is a discovery that recognises a type only by its version when asked whether it
// still exists.
type versionBound struct {
	nsctl.Discovery

	mu       sync.Mutex // guards the fields below
	outdated bool
	versions map[string]string // by group: the last answer
}

func (v *versionBound) Invalidate() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.outdated = true
}

func (v *versionBound) PreferredNamespacedResources(ctx context.Context, notOlderThan time.Time) ([]*api.APIResourceList, error) {
	lists, err := v.Discovery.PreferredNamespacedResources(ctx, notOlderThan)
	v.mu.Lock()
	defer v.mu.Unlock()
	versions := map[string]string{}
	still := slices.DeleteFunc(slices.Clone(lists), func(list *api.APIResourceList) bool {
		gv, _ := api.ParseGroupVersion(list.GroupVersion)
		versions[gv.Group] = gv.Version
		return v.versions[gv.Group] != "" && v.versions[gv.Group] != gv.Version
	})
	if v.outdated {
		v.outdated = false
		return still, err
	}
	v.versions = versions
	return lists, err
}

// The test of the test: each flaw is found within a few worlds.
func (s suite) TheModelFindsCarelessDeleters(t *testing.T) {
	if testing.Short() {
		t.Skip("a test of the model and not of a deleter")
	}
	type heads = []*api.PartialObjectMetadata
	tests := map[string]struct {
		flaw   flaw
		only   Capability // a form without it does not send the requests that show the flaw
		adjust func(*nsctl.Config, *nsctl.DeleterConfig)
	}{
		"trusts a partial discovery": {flaw: flaw{discovery: func(lists []*api.APIResourceList, err error) ([]*api.APIResourceList, error) {
			if len(lists) > 0 {
				return lists, nil
			}
			return lists, err
		}}},
		"regards a forbidden list as empty": {flaw: flaw{list: func(found heads, err error) (heads, error) {
			if api.IsForbidden(err) {
				return nil, nil
			}
			return found, err
		}}},
		"regards not found as empty": {flaw: flaw{list: func(found heads, err error) (heads, error) {
			if api.IsNotFound(err) || api.IsMethodNotAllowed(err) {
				return nil, nil
			}
			return found, err
		}}},
		"regards a lost answer as success": {flaw: flaw{list: func(found heads, err error) (heads, error) {
			if errors.Is(err, errLost) {
				return nil, nil
			}
			return found, err
		}}},
		"regards a bare Status as an empty list": {only: ReadsAnswers, flaw: flaw{collection: func(found heads, _ bool, err error) (heads, bool, error) {
			return found, err == nil, err
		}}},
		"trusts the first page of a list": {only: ChecksEmptiness, flaw: flaw{holders: func(holders map[string]bool, _ bool, err error) (map[string]bool, bool, error) {
			return holders, err == nil, err
		}}},
		"regards found objects as gone":                      {flaw: flaw{list: func(heads, error) (heads, error) { return nil, nil }}},
		"does not wait for servers to learn of the deletion": {adjust: func(config *nsctl.Config, _ *nsctl.DeleterConfig) { config.GracePeriod = -1 }},
		"regards a moved type as removed": {adjust: func(_ *nsctl.Config, deleter *nsctl.DeleterConfig) {
			deleter.Discovery = &versionBound{Discovery: deleter.Discovery}
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if !s.has(test.only) {
				assert.Empty(t, s.runWorld(t, 1, func(_ *testing.T, _ *nsctl.Config, deleter *nsctl.DeleterConfig) {
					careless := test.flaw
					careless.worldContent = deleter.Content.(worldContent)
					deleter.Content = careless
				}).violations)
				return
			}
			var violations []string
			for seed := uint64(1); seed <= 60 && len(violations) == 0; seed++ {
				w := s.runWorld(t, seed, func(_ *testing.T, config *nsctl.Config, deleter *nsctl.DeleterConfig) {
					careless := test.flaw
					careless.worldContent = deleter.Content.(worldContent)
					deleter.Content, deleter.Discovery = careless, careless
					if test.adjust != nil {
						test.adjust(config, deleter)
					}
				})
				violations = w.violations
			}
			assert.NotEmpty(t, violations)
		})
	}
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

// adjusting changes a world's controller. It is called in the bubble of the world.
type adjusting func(t *testing.T, config *nsctl.Config, deleter *nsctl.DeleterConfig)

func asItIs(*testing.T, *nsctl.Config, *nsctl.DeleterConfig) {}

func (s suite) runWorld(t *testing.T, seed uint64, adjust adjusting) (l lived) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(seed)
		shared := informer.NewSharedIndexInformer(w.source, informer.Config[*api.Namespace]{Name: "namespaces", ResyncPeriod: worldResync})
		deleter := nsctl.DeleterConfig{Namespaces: w, Content: worldContent{w}, Discovery: w, Concurrency: 4, ConflictBackoff: withoutJitter}
		config := nsctl.Config{Informer: shared, Workers: 6, ResyncPeriod: worldResync, Trace: &nsctl.Trace{PassContext: w.passContext}}
		adjust(t, &config, &deleter)
		config.Deleter = s.New(deleter)
		controller, err := nsctl.NewController(config)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		informerCtx, stopInformer := context.WithCancel(t.Context())
		var informers, controllers sync.WaitGroup
		informers.Go(func() { _ = shared.Run(informerCtx) })
		controllers.Go(func() { controller.Run(ctx) })

		fate := &fate{world: w}
		fate.rage(stepsOfAWorld)
		l = lived{world: w}
		w.mu.Lock()
		l.story = maps.Clone(w.asked)
		w.mu.Unlock()
		l.lingering = fate.lingering(3 * worldResync)
		cancel()
		controllers.Wait()
		stopInformer()
		informers.Wait()
	})
	return l
}

func (k worldKey) String() string { return fmt.Sprint(k.gvr.Resource, "/", k.name) }

func sortedNames(m map[string]*api.Namespace) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
