package controllers_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/internal/controllers"
	"orrery/restclient/api"
	"orrery/wait"
)

// until returns an initialiser whose controller counts itself in and out, and has something in hand for a second when it is
// told to stop.
func until(running *atomic.Int32) controllers.Initializer {
	return func(context.Context, controllers.Context) (controllers.Run, error) {
		return func(stop, alive context.Context) {
			running.Add(1)
			defer running.Add(-1)
			<-stop.Done()
			wait.Sleep(alive, time.Second)
		}, nil
	}
}

func selectAll(t *testing.T) controllers.Selection {
	t.Helper()
	selection, err := controllers.ParseSelection([]string{"*", "-left-out"}, []string{"a", "b", "missing", "left-out"}, nil)
	require.NoError(t, err)
	return selection
}

func TestWhatIsSelectedAndAvailableStandsByUntilItMayWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		available := controllers.AvailableResources([]*api.APIResourceList{
			{GroupVersion: "v1", Resources: []api.APIResource{{Name: "namespaces"}}},
			{GroupVersion: "not/a/version", Resources: []api.APIResource{{Name: "pods"}}},
		})
		initializers := map[string]controllers.Initializer{
			"a": until(&running),
			"b": until(&running),
			"missing": func(_ context.Context, shared controllers.Context) (controllers.Run, error) {
				if !shared.Available[api.PodsResource] {
					return nil, controllers.ErrResourceMissing
				}
				return nil, errors.New("the test server has no pods")
			},
			"left-out": func(context.Context, controllers.Context) (controllers.Run, error) {
				return nil, errors.New("not selected")
			},
		}
		prepared, err := controllers.Prepare(t.Context(), initializers, selectAll(t), controllers.Context{
			Informers: &informer.SharedInformerFactory{}, Available: available,
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, prepared.Ready)
		assert.Equal(t, []string{"missing"}, prepared.Skipped)
		synctest.Wait()
		assert.Zero(t, running.Load(), "they stand by")

		stop, stopNow := context.WithCancel(t.Context())
		began, ended := time.Now(), make(chan struct{})
		go func() {
			defer close(ended)
			prepared.Work(stop, t.Context())
		}()
		synctest.Wait()
		assert.Equal(t, int32(2), running.Load())
		stopNow()
		synctest.Wait()
		assert.Equal(t, int32(2), running.Load(), "they finish what they have in hand")
		<-ended
		assert.Zero(t, running.Load())
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestControllersThatMayNotWorkAnyMoreEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		prepared, err := controllers.Prepare(t.Context(), map[string]controllers.Initializer{"a": until(&running)}, selectAll(t),
			controllers.Context{Informers: &informer.SharedInformerFactory{}})
		require.NoError(t, err)
		ended, end := context.WithCancel(t.Context())
		end()
		began := time.Now()
		prepared.Work(ended, ended)
		assert.Zero(t, time.Since(began))
		assert.Zero(t, running.Load())
	})
}

func TestPrepareStopsAtAnInitialiserThatFails(t *testing.T) {
	broken := errors.New("broken")
	var running atomic.Int32
	_, err := controllers.Prepare(t.Context(), map[string]controllers.Initializer{
		"a": until(&running),
		"b": func(context.Context, controllers.Context) (controllers.Run, error) { return nil, broken },
	}, selectAll(t), controllers.Context{Informers: &informer.SharedInformerFactory{}})
	require.ErrorIs(t, err, broken)
	assert.ErrorContains(t, err, "starting b")
	assert.Zero(t, running.Load(), "nothing was started")
}

func TestPrepareWithAFactoryThatHasEnded(t *testing.T) {
	factory := &informer.SharedInformerFactory{}
	factory.Shutdown()
	_, err := controllers.Prepare(t.Context(), nil, selectAll(t), controllers.Context{Informers: factory})
	assert.ErrorIs(t, err, informer.ErrFactoryShutDown)
}
