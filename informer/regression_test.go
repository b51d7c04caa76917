package informer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// TestKubernetes129024PanickingHandlerBecomesSynced: a callback panics during the initial list.
// client-go does not count it, and the registration waits forever.
func TestKubernetes129024PanickingHandlerBecomesSynced(t *testing.T) {
	defer survivePanics()()
	inEachBubble(t, config{}, func(n *namespaces) {
		n.source.Add(namespace("a"))
		early := n.register(onAdd(func(*api.Namespace) { panic("early") }))
		n.start()
		late := n.register(onAdd(func(*api.Namespace) { panic("late") }))
		<-early.Synced()
		<-late.Synced()
		s := n.Snapshot()
		for _, h := range s.Handlers {
			assert.EqualValues(t, 1, h.Handled)
			assert.EqualValues(t, 1, h.Panics)
			assert.Zero(t, h.Pending)
		}
	})
}

// TestKubernetes98657AndClientGo1167RemovedHandlersLeaveNothing: handlers can be removed, and
// their goroutines end then, not with the informer.
func TestKubernetes98657AndClientGo1167RemovedHandlersLeaveNothing(t *testing.T) {
	for _, gears := range sets {
		inBubble(t, config{Gears: gears}, func(n *namespaces) {
			n.source.Add(namespace("a"))
			n.start()
			for range 100 {
				r := n.register(&log{})
				require.NoError(t, n.ShutDownEventHandler(context.Background(), r))
				<-r.Ended()
			}
			assert.Empty(t, n.Snapshot().Handlers)
		})
	}
}

// TestKubernetes136509EventsBeforeTheListenersRun: handlers are added while the informer starts
// and resyncs are due at once; distribution and the start of the listeners must not deadlock.
func TestKubernetes136509EventsBeforeTheListenersRun(t *testing.T) {
	for _, gears := range sets {
		inBubble(t, config{Gears: gears, ResyncPeriod: time.Second}, func(n *namespaces) {
			n.source.Add(namespace("a"))
			registrations := make(chan *informer.Registration, 20)
			for range cap(registrations) {
				go func() { registrations <- n.register(&log{}) }()
			}
			n.start()
			for range cap(registrations) {
				<-(<-registrations).Synced()
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			for _, h := range n.Snapshot().Handlers {
				assert.Greater(t, h.Handled, uint64(5))
			}
		})
	}
}

// TestClientGo1312FirstResyncIsDelivered: a resync is delivered although the resource version is
// the same.
func TestClientGo1312FirstResyncIsDelivered(t *testing.T) {
	inEachBubble(t, config{ResyncPeriod: 20 * time.Minute}, func(n *namespaces) {
		h := n.handler()
		n.start()
		n.add("a")
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		assert.Equal(t, &log{"add a", "update a"}, h)
	})
}

// TestDefect811RemovalThatDelivers: removing a handler drops its waiting events, as in client-go;
// another form of removal delivers them.
func TestDefect811RemovalThatDelivers(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		release := make(chan struct{})
		var dropping, draining log
		hold := func(l *log) informer.ResourceEventHandler[*api.Namespace] {
			return onAdd(func(obj *api.Namespace) {
				<-release
				l.OnAdd(obj, false)
			})
		}
		dropped, drained := n.register(hold(&dropping)), n.register(hold(&draining))
		n.start()
		n.add("a")
		n.add("b")
		done := make(chan error)
		go func() { done <- n.ShutDownEventHandlerWithDrain(context.Background(), drained) }()
		require.NoError(t, n.RemoveEventHandler(dropped))
		synctest.Wait()
		close(release)
		require.NoError(t, <-done)
		<-dropped.Ended()
		assert.Equal(t, log{"add a"}, dropping)
		assert.Equal(t, log{"add a", "add b"}, draining)
	})
}

// TestDefect811LateJoinDoesNotBlock: a slow handler joins a large store. Meanwhile events flow
// and other handlers join. The slow handler receives the store as it was when it joined, then the
// changes since.
func TestDefect811LateJoinDoesNotBlock(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		for i := range 1000 {
			n.source.Add(namespace(fmt.Sprintf("n%03d", i)))
		}
		quick := n.handler()
		n.start()
		release := make(chan struct{})
		slow := map[string][]string{}
		r := n.register(informer.ResourceEventHandlerFuncs[*api.Namespace]{
			AddFunc: func(obj *api.Namespace, initial bool) {
				<-release
				slow[obj.Name] = append(slow[obj.Name], fmt.Sprintf("add %v", initial))
			},
			DeleteFunc: func(d informer.DeletedObject[*api.Namespace]) { slow[d.Key] = append(slow[d.Key], "delete") },
		})
		*quick = nil
		n.delete("n500")
		n.add("new")
		assert.Equal(t, &log{"delete n500", "add new"}, quick, "events still arrive")
		assert.Equal(t, 1002, n.Snapshot().Handlers[1].Pending)
		close(release)
		<-r.Synced()
		synctest.Wait()
		assert.Len(t, slow, 1001)
		assert.Equal(t, []string{"add true", "delete"}, slow["n500"])
		assert.Equal(t, []string{"add false"}, slow["new"])
		assert.Equal(t, []string{"add true"}, slow["n999"])
	})
}

// TestClientGo1326BacklogThatIsBounded: in client-go the backlog of a stuck handler keeps every
// state of every object. Here a handler may choose to receive only the newest.
func TestClientGo1326BacklogThatIsBounded(t *testing.T) {
	inBubble(t, config{Gears: fastGears}, func(n *namespaces) {
		release := make(chan struct{})
		reported := map[string][]string{}
		record := func(ns *api.Namespace) {
			<-release
			reported[ns.Name] = append(reported[ns.Name], ns.Labels["version"])
		}
		r, err := n.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*api.Namespace]{
			AddFunc:    func(ns *api.Namespace, _ bool) { record(ns) },
			UpdateFunc: func(_, ns *api.Namespace) { record(ns) },
		}, informer.HandlerOptions{Coalescing: true})
		require.NoError(t, err)
		n.start()
		n.add("a", "version", "first")
		for i := range 5000 {
			n.source.Modify(informertest.Namespace("a", "version", fmt.Sprint(i)))
			if i%100 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		s := n.Snapshot().Handlers[0]
		assert.LessOrEqual(t, s.Pending, 2)
		assert.EqualValues(t, 5001, s.Merged+uint64(s.Pending))
		close(release)
		synctest.Wait()
		s = n.Snapshot().Handlers[0]
		assert.Zero(t, s.Pending)
		assert.EqualValues(t, 5001, s.Merged+s.Handled)
		assert.Equal(t, "4999", reported["a"][len(reported["a"])-1])
		assert.True(t, r.HasSynced())
	})
}

// TestDefect812ProcessingErrorsAreReported: an index function fails. client-go panics with the
// store's lock held, and silently drops other processing errors.
func TestDefect812ProcessingErrorsAreReported(t *testing.T) {
	cause := errors.New("cause")
	var handler, hook []error
	cfg := config{
		Gears: fastGears,
		Indexers: indexer.Indexers[*api.Namespace]{"broken": func(ns *api.Namespace) ([]string, error) {
			if ns.Name == "bad" {
				return nil, cause
			}
			return []string{"x"}, nil
		}},
		WatchErrorHandler: func(_ context.Context, err error) { handler = append(handler, err) },
		Trace:             &informer.Trace{ProcessError: func(_ string, err *informer.ProcessError) { hook = append(hook, err) }},
	}
	inBubble(t, cfg, func(n *namespaces) {
		h := n.handler()
		n.start()
		n.add("bad")
		n.add("good")
		assert.Equal(t, &log{"add bad", "add good"}, h, "the object is stored and delivered")
		for _, reported := range [][]error{handler, hook} {
			require.Len(t, reported, 1)
			assert.ErrorIs(t, reported[0], cause)
			var index *indexer.IndexError
			require.ErrorAs(t, reported[0], &index)
			assert.Equal(t, "bad", index.Key)
			assert.Contains(t, reported[0].Error(), `"bad"`)
		}
	})
}

// TestDefect813RelistsDoNotPostponeResyncs: the informer lists every four seconds; the resync of
// ten seconds still takes place.
func TestDefect813RelistsDoNotPostponeResyncs(t *testing.T) {
	var due []time.Duration
	begin := time.Now
	inBubble(t, config{Gears: fastGears, ResyncPeriod: 10 * time.Second, Trace: &informer.Trace{
		ResyncDue: func(string, int) { due = append(due, time.Since(begin())) },
	}}, func(n *namespaces) {
		started := time.Now()
		begin = func() time.Time { return started }
		n.handler()
		n.start()
		n.add("a")
		for range 10 {
			n.relist()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		var want []time.Duration
		for at := 10 * time.Second; at <= time.Since(started); at += 10 * time.Second {
			want = append(want, at)
		}
		assert.GreaterOrEqual(t, len(want), 5)
		assert.Equal(t, want, due)
	})
}

// TestMutationDetectorFromTheEnvironment: client-go's environment variable works here as well.
func TestMutationDetectorFromTheEnvironment(t *testing.T) {
	defer survivePanics()()
	t.Setenv("KUBE_CACHE_MUTATION_DETECTOR", "true")
	var found []*informer.MutationError
	inBubble(t, config{Gears: fastGears, Trace: &informer.Trace{
		Mutated: func(_ string, err *informer.MutationError) { found = append(found, err) },
	}}, func(n *namespaces) {
		n.start()
		stored := informertest.Namespace("a", "app", "web")
		n.source.Add(stored)
		synctest.Wait()
		obj, _ := n.GetIndexer().GetByKey("a")
		obj.Annotations = map[string]string{"mine": "now"}
		require.NoError(t, n.stop(), "the detector checks once more at the end")
		require.Len(t, found, 1)
		assert.Equal(t, "a", found[0].Key)
	})
}
