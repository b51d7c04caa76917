package controllers_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/internal/controllers"
	"orrery/restclient/api"
)

// until returns an initialiser whose controller counts itself in and out.
func until(running *atomic.Int32) controllers.Initializer {
	return func(context.Context, controllers.Context) (func(context.Context), error) {
		return func(ctx context.Context) {
			running.Add(1)
			defer running.Add(-1)
			<-ctx.Done()
		}, nil
	}
}

func selectAll(t *testing.T) controllers.Selection {
	t.Helper()
	selection, err := controllers.ParseSelection([]string{"*", "-left-out"}, []string{"a", "b", "missing", "left-out"}, nil)
	require.NoError(t, err)
	return selection
}

func TestStartRunsWhatIsSelectedAndAvailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		available := controllers.AvailableResources([]*api.APIResourceList{
			{GroupVersion: "v1", Resources: []api.APIResource{{Name: "namespaces"}}},
			{GroupVersion: "not/a/version", Resources: []api.APIResource{{Name: "pods"}}},
		})
		initializers := map[string]controllers.Initializer{
			"a": until(&running),
			"b": until(&running),
			"missing": func(_ context.Context, shared controllers.Context) (func(context.Context), error) {
				if !shared.Available[api.PodsResource] {
					return nil, controllers.ErrResourceMissing
				}
				return nil, errors.New("the test server has no pods")
			},
			"left-out": func(context.Context, controllers.Context) (func(context.Context), error) {
				return nil, errors.New("not selected")
			},
		}
		ctx, stop := context.WithCancel(t.Context())
		started, err := controllers.Start(ctx, t.Context(), initializers, selectAll(t), controllers.Context{
			Informers: &informer.SharedInformerFactory{}, Available: available,
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, started.Started)
		assert.Equal(t, []string{"missing"}, started.Skipped)
		synctest.Wait()
		assert.Equal(t, int32(2), running.Load())
		stop()
		started.Wait()
		assert.Equal(t, int32(0), running.Load())
	})
}

func TestStartStopsAtAnInitialiserThatFails(t *testing.T) {
	broken := errors.New("broken")
	var running atomic.Int32
	_, err := controllers.Start(t.Context(), t.Context(), map[string]controllers.Initializer{
		"a": until(&running),
		"b": func(context.Context, controllers.Context) (func(context.Context), error) { return nil, broken },
	}, selectAll(t), controllers.Context{Informers: &informer.SharedInformerFactory{}})
	require.ErrorIs(t, err, broken)
	assert.ErrorContains(t, err, "starting b")
	assert.Zero(t, running.Load(), "nothing was started")
}

func TestStartWithAFactoryThatHasEnded(t *testing.T) {
	factory := &informer.SharedInformerFactory{}
	factory.Shutdown()
	_, err := controllers.Start(t.Context(), t.Context(), nil, selectAll(t), controllers.Context{Informers: factory})
	assert.ErrorIs(t, err, informer.ErrFactoryShutDown)
}
