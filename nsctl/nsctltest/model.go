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
	modelSteps = flag.Int("steps", 100_000, "how many requests and events the model test goes through at least")
)

// stepsOfAWorld is how long one world lasts.
const stepsOfAWorld = 5_000

// Whatever fails, is forbidden, is lost, lags or hangs: no namespace is finalized that holds something, nothing is
// deleted in a namespace that is not in deletion, nothing but pods while there are pods. And when it is over, all
// namespaces go that nobody else holds.
func (s suite) TheDeleterNeverFinalizesWhatHoldsContent(t *testing.T) {
	steps, gone := 0, 0
	for seed := *modelSeed; steps < *modelSteps; seed++ {
		w := s.runWorld(t, seed, asItIs)
		require.Empty(t, w.violations, "replay with -seed=%d -steps=1", seed)
		require.Empty(t, w.lingering, "seed %d: the hindrances have ended long ago", seed)
		steps += w.steps
		gone += w.gone
	}
	t.Logf("seeds from %d: %d steps, %d namespaces deleted", *modelSeed, steps, gone)
	assert.Greater(t, gone, steps/1000, "there was something to look at")
}

// One seed is one story, however goroutines are scheduled.
func (s suite) TheModelReplays(t *testing.T) {
	first, second := s.runWorld(t, 7, asItIs), s.runWorld(t, 7, asItIs)
	assert.Equal(t, first.story, second.story)
}

// flaw is what a deleter would conclude from errors and halves of answers if it were careless.
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

// versionBound is a discovery that, asked once more whether a type still exists, knows it by its version.
type versionBound struct {
	nsctl.Discovery

	mu       sync.Mutex // guards what follows
	outdated bool
	versions map[string]string // by group: as it was seen last
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

// The test of the test: each carelessness is found, within a few worlds.
func (s suite) TheModelFindsCarelessDeleters(t *testing.T) {
	type heads = []*api.PartialObjectMetadata
	tests := map[string]struct {
		flaw   flaw
		only   Capability // who lacks it does not ask what the flaw spoils
		adjust func(*nsctl.Config, *nsctl.DeleterConfig)
	}{
		"trusts a partial discovery": {flaw: flaw{discovery: func(lists []*api.APIResourceList, err error) ([]*api.APIResourceList, error) {
			if len(lists) > 0 {
				return lists, nil
			}
			return lists, err
		}}},
		"takes a forbidden list for an empty one": {flaw: flaw{list: func(found heads, err error) (heads, error) {
			if api.IsForbidden(err) {
				return nil, nil
			}
			return found, err
		}}},
		"takes not found for empty": {flaw: flaw{list: func(found heads, err error) (heads, error) {
			if api.IsNotFound(err) || api.IsMethodNotAllowed(err) {
				return nil, nil
			}
			return found, err
		}}},
		"takes a lost answer for success": {flaw: flaw{list: func(found heads, err error) (heads, error) {
			if errors.Is(err, errLost) {
				return nil, nil
			}
			return found, err
		}}},
		"takes a bare Status for an empty list": {only: ReadsAnswers, flaw: flaw{collection: func(found heads, _ bool, err error) (heads, bool, error) {
			return found, err == nil, err
		}}},
		"believes in the first page of a list": {only: ChecksEmptiness, flaw: flaw{holders: func(holders map[string]bool, _ bool, err error) (map[string]bool, bool, error) {
			return holders, err == nil, err
		}}},
		"takes what was found for gone":                      {flaw: flaw{list: func(heads, error) (heads, error) { return nil, nil }}},
		"does not wait for servers to learn of the deletion": {adjust: func(config *nsctl.Config, _ *nsctl.DeleterConfig) { config.GracePeriod = -1 }},
		"takes a type that has moved for one that has gone": {adjust: func(_ *nsctl.Config, deleter *nsctl.DeleterConfig) {
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

// worldResync is rare: it comes after the story, in which the order of events is that of the seed.
const worldResync = time.Hour

// lived is a world at its end.
type lived struct {
	*world
	story     map[string]uint64 // what had been asked how often when the hindrances ended
	lingering []string          // namespaces in deletion that have not gone although nothing is in the way
}

// adjusting is what a test changes of a world's controller. It is called in the bubble of the world.
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

// String is for failures.
func (k worldKey) String() string { return fmt.Sprint(k.gvr.Resource, "/", k.name) }

func sortedNames(m map[string]*api.Namespace) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
