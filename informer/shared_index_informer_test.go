package informer_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/restclient/api"
	"orrery/wait"
)

type config = informer.Config[*api.Namespace]

func byLabel(ns *api.Namespace) ([]string, error) { return []string{ns.Labels["team"]}, nil }

// The contract asserts that there are errors.
func TestErrorsHaveTypes(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		_, err := n.AddEventHandler(nil)
		assert.ErrorIs(t, err, informer.ErrNoHandler)
		foreign, err := informer.NewSharedIndexInformer(n.source, config{}).AddEventHandler(&log{})
		require.NoError(t, err)
		for _, r := range []*informer.Registration{nil, foreign} {
			assert.ErrorIs(t, n.RemoveEventHandler(r), informer.ErrForeignRegistration)
		}
		n.start()
		assert.ErrorIs(t, n.Run(context.Background()), informer.ErrStarted)
		assert.NoError(t, n.AddIndexers(indexer.Indexers[*api.Namespace]{"team": byLabel}), "indexes may come late")
		require.NoError(t, n.stop())

		assert.ErrorIs(t, n.Run(context.Background()), informer.ErrStopped)
		_, err = n.AddEventHandler(&log{})
		assert.ErrorIs(t, err, informer.ErrStopped)
		assert.ErrorIs(t, n.AddIndexers(indexer.Indexers[*api.Namespace]{"other": byLabel}), informer.ErrStopped)
	})
}

func TestTransformThatPanicsIsReported(t *testing.T) {
	defer survivePanics()()
	var reported []error
	cfg := config{
		Gears:             fastGears,
		WatchErrorHandler: func(_ context.Context, err error) { reported = append(reported, err) },
		Transform: func(ns *api.Namespace) (*api.Namespace, error) {
			if ns.Name == "bad" {
				panic("a fault in a transform")
			}
			return ns, nil
		},
	}
	inBubble(t, cfg, func(n *namespaces) {
		h := n.handler()
		n.start()
		n.add("bad")
		n.add("good")
		assert.Equal(t, &log{"add good"}, h)
		require.Len(t, reported, 1)
		var process *informer.ProcessError
		require.ErrorAs(t, reported[0], &process)
		assert.Equal(t, "bad", process.Key)
		require.ErrorAs(t, reported[0], new(*deltafifo.TransformError))
		var thrown *wait.Panic
		require.ErrorAs(t, reported[0], &thrown)
		assert.Equal(t, "a fault in a transform", thrown.Value)
		assert.Contains(t, reported[0].Error(), "a fault in a transform")

		s := n.Snapshot()
		assert.EqualValues(t, 1, s.ProcessErrors)
		assert.Same(t, process, s.LastProcessError)
	})
}

// TestTransformThatReturnsNothing: nil is a refusal, which costs neither the list nor a deletion.
func TestTransformThatReturnsNothing(t *testing.T) {
	for name, gears := range sets {
		t.Run(name, func(t *testing.T) {
			nothing := true
			cfg := config{Gears: gears, Transform: func(ns *api.Namespace) (*api.Namespace, error) {
				if nothing && ns.Name == "a" {
					return nil, nil
				}
				return ns, nil
			}}
			inBubble(t, cfg, func(n *namespaces) {
				h := n.handler()
				n.source.Add(namespace("a"))
				n.source.Add(namespace("b"))
				n.start()
				assert.True(t, n.HasSynced(), "an object that became nothing keeps the informer unsynced")
				assert.Equal(t, &log{"add b (initial)"}, h)
				nothing = false
				n.modify("a")
				nothing = true
				n.modify("a")
				n.delete("a")
				assert.Equal(t, &log{"add b (initial)", "add a", "delete a"}, h)
				s := n.Snapshot()
				assert.EqualValues(t, 3, s.ProcessErrors)
				assert.Equal(t, "a", s.LastProcessError.Key)
				assert.ErrorContains(t, s.LastProcessError, "the transform returned no object")
			})
		})
	}
}

// TestRefusedObjectsAreReported: an object without a key, in a list and in an event, is reported as
// the errors of a transform are.
func TestRefusedObjectsAreReported(t *testing.T) {
	var reported []error
	cfg := config{WatchErrorHandler: func(_ context.Context, err error) { reported = append(reported, err) }}
	cfg.Reflector.DisableWatchList = true
	inEachBubble(t, cfg, func(n *namespaces) {
		reported = nil
		n.source.Add(namespace(""))
		n.start()
		n.delete("")
		assert.True(t, n.HasSynced())
		require.Len(t, reported, 2)
		for _, err := range reported {
			require.ErrorAs(t, err, new(*informer.ProcessError))
			require.ErrorAs(t, err, new(*deltafifo.KeyError))
		}
	})
}

// TestPanicInTheLoopIsSurvived: a hook of the store panics during an event. Events whose batch was
// pending then are delivered, and the next event is processed.
func TestPanicInTheLoopIsSurvived(t *testing.T) {
	defer survivePanics()()
	release := make(chan struct{})
	var errs []*informer.ProcessError
	cfg := config{
		Gears: fastGears,
		StoreTrace: &indexer.Trace{Added: func(key string) {
			switch key {
			case "first":
				<-release // so that the others wait together
			case "bad":
				panic("a fault in a hook")
			}
		}},
		Trace: &informer.Trace{ProcessError: func(name string, err *informer.ProcessError) {
			assert.Equal(t, "namespaces", name)
			errs = append(errs, err)
		}},
	}
	inBubble(t, cfg, func(n *namespaces) {
		release = make(chan struct{}) // of the bubble
		h := n.handler()
		n.start()
		n.add("first")
		n.add("good")
		n.add("bad")
		close(release)
		synctest.Wait()
		assert.Equal(t, &log{"add first", "add good"}, h)
		n.add("better")
		assert.Equal(t, &log{"add first", "add good", "add better"}, h)
		require.Len(t, errs, 1)
		require.ErrorAs(t, errs[0], new(*wait.Panic))
	})
}

// TestErrorsAreReportedBeforeRunReturns: a stopping informer reports errors that occurred just
// before.
func TestErrorsAreReportedBeforeRunReturns(t *testing.T) {
	refused := errors.New("refused")
	reported := 0
	release := make(chan struct{})
	inBubble(t, config{
		Gears:     fastGears,
		Transform: func(*api.Namespace) (*api.Namespace, error) { return nil, refused },
		WatchErrorHandler: func(context.Context, error) {
			reported++
			<-release
		},
	}, func(n *namespaces) {
		release = make(chan struct{}) // of the bubble
		n.start()
		for _, name := range []string{"a", "b", "c"} {
			n.add(name)
		}
		n.cancel()
		synctest.Wait()
		close(release)
		require.NoError(t, <-n.result)
		assert.Equal(t, 3, reported)
	})
}
