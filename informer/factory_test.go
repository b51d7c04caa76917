package informer_test

import (
	"context"
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

// newNamespaces returns new informers of source and counts them.
func newNamespaces(source *informertest.FakeSource[*api.Namespace],
	made *int) func(time.Duration) *informer.SharedIndexInformer[*api.Namespace] {
	return func(resync time.Duration) *informer.SharedIndexInformer[*api.Namespace] {
		*made++
		return informer.NewSharedIndexInformer(source, config{Name: "namespaces", ResyncPeriod: resync})
	}
}

func TestFactoryMakesOneInformerForEachCollection(t *testing.T) {
	f := &informer.SharedInformerFactory{DefaultResync: time.Hour}
	made := 0
	source := informertest.NewNamespaceSource()
	first := informer.InformerFor(f, "namespaces",
		func(resync time.Duration) *informer.SharedIndexInformer[*api.Namespace] {
			assert.Equal(t, time.Hour, resync, "the constructor receives DefaultResync")
			return newNamespaces(source, &made)(resync)
		})
	again := informer.InformerFor(f, "namespaces", newNamespaces(source, &made))
	other := informer.InformerFor(f, "namespaces in another cluster", newNamespaces(source, &made))
	heads := informer.InformerFor(f, "namespaces", func(time.Duration) *informer.SharedIndexInformer[head] {
		return informer.NewSharedIndexInformer(informertest.NewContractSource(), informer.Config[head]{})
	})
	assert.Same(t, first, again)
	assert.NotSame(t, first, other)
	assert.NotNil(t, heads, "an informer of another type, regardless of the name")
	assert.Equal(t, 2, made)
}

func TestFactoryStartsWhatIsNewAndStopsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f informer.SharedInformerFactory
		require.NoError(t, f.Start(context.Background()), "nothing to start is no error")
		source := informertest.NewNamespaceSource()
		first := informer.InformerFor(&f, "first", newNamespaces(source, new(int)))
		require.NoError(t, f.Start(context.Background()))
		require.NoError(t, f.Start(context.Background()))
		second := informer.InformerFor(&f, "second", newNamespaces(source, new(int)))
		require.NoError(t, f.WaitForCacheSync(context.Background()), "what was not started is not waited for")
		assert.True(t, first.HasSynced())
		assert.False(t, second.HasSynced())

		require.NoError(t, f.Start(context.Background()))
		require.NoError(t, f.WaitForCacheSync(context.Background()))
		assert.True(t, second.HasSynced())

		f.Shutdown()
		f.Shutdown()
		assert.True(t, first.IsStopped())
		assert.True(t, second.IsStopped())
		informer.InformerFor(&f, "third", newNamespaces(source, new(int)))
		assert.ErrorIs(t, f.Start(context.Background()), informer.ErrFactoryShutDown)
	})
}

// TestFactoryWaitsForHandlers: kubernetes/kubernetes#136942. Programs that wait for the factory
// read the state that their handlers have collected; client-go returns before the handlers have
// been called.
func TestFactoryWaitsForHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f informer.SharedInformerFactory
		defer f.Shutdown()
		source := informertest.NewNamespaceSource()
		source.Add(namespace("a"))
		inf := informer.InformerFor(&f, "namespaces", newNamespaces(source, new(int)))
		var collected []string
		_, err := inf.AddEventHandler(onAdd(func(obj *api.Namespace) {
			time.Sleep(time.Minute)
			collected = append(collected, obj.Name)
		}))
		require.NoError(t, err)
		removed, err := inf.AddEventHandler(onAdd(func(*api.Namespace) { time.Sleep(time.Hour) }))
		require.NoError(t, err)
		require.NoError(t, f.Start(context.Background()))
		synctest.Wait()
		brief, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		assert.ErrorIs(t, f.WaitForCacheSync(brief), context.DeadlineExceeded, "not for ever")
		go func() { assert.NoError(t, inf.RemoveEventHandler(removed)) }() // the wait does not include it

		require.NoError(t, f.WaitForCacheSync(context.Background()))
		assert.Equal(t, []string{"a"}, collected)
	})
}

func TestFactoryNamesWhatDoesNotSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f informer.SharedInformerFactory
		defer f.Shutdown()
		good, bad := informertest.NewNamespaceSource(), informertest.NewNamespaceSource()
		defer bad.Hold()()
		informer.InformerFor(&f, "good", newNamespaces(good, new(int)))
		informer.InformerFor(&f, "bad", newNamespaces(bad, new(int)))
		informer.InformerFor(&f, "as bad", newNamespaces(bad, new(int)))
		require.NoError(t, f.Start(context.Background()))

		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err := f.WaitForCacheSync(ctx)
		var missing *informer.NotSyncedError
		require.ErrorAs(t, err, &missing)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, []string{"bad (*api.Namespace)", "as bad (*api.Namespace)"}, missing.Informers)
		assert.Equal(t,
			"caches that did not sync: bad (*api.Namespace), as bad (*api.Namespace): context deadline exceeded",
			err.Error())
	})
}

func TestFactoryDoesNotWaitForAnInformerThatHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f informer.SharedInformerFactory
		source := informertest.NewNamespaceSource()
		defer source.Hold()()
		informer.InformerFor(&f, "namespaces", newNamespaces(source, new(int)))
		ctx, cancel := context.WithCancel(context.Background())
		require.NoError(t, f.Start(ctx))
		cancel()
		assert.ErrorIs(t, f.WaitForCacheSync(context.Background()), informer.ErrStopped)
		f.Shutdown()
	})
}

// returns fails the test if f does not return because a lock that it needs is held. Only a
// failure reaches the deadline. There is no bubble: a goroutine blocked on a mutex would stop its
// clock.
func returns(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Errorf("%s does not return", what)
	}
}

func TestWaitForCacheSync(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		n.source.Change(func(b *informertest.Behaviour) { b.Latency = 250 * time.Millisecond })
		r := n.register(&log{})
		assert.True(t, informer.WaitForCacheSync(context.Background()), "nothing to wait for")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		assert.False(t, informer.WaitForCacheSync(ctx, n.HasSynced))
		assert.ErrorIs(t, informer.WaitForSync(ctx, n, r), context.DeadlineExceeded)

		begin := time.Now()
		n.start()
		assert.True(t, informer.WaitForCacheSync(context.Background(), n.HasSynced, r.HasSynced))
		assert.Equal(t, 300*time.Millisecond, time.Since(begin), "it looks each 100 ms")
		assert.NoError(t, informer.WaitForSync(context.Background(), n, r))
		assert.Equal(t, 300*time.Millisecond, time.Since(begin))
		assert.True(t, informer.WaitForCacheSync(ctx, n.HasSynced), "a synced informer wins over an expired context")
		assert.NoError(t, informer.WaitForSync(ctx, n, r))
		synctest.Wait()
	})
}

// shelf returns a store of heads "namespace/name" with a label.
func shelf(t *testing.T, indexers indexer.Indexers[head]) informer.Indexer[head] {
	store := indexer.New(indexer.Config[head]{KeyFunc: informer.MetaNamespaceKeyFunc[head], Indexers: indexers})
	for key, app := range map[string]string{"red/a": "web", "red/b": "api", "blue/a": "web", "root": "web"} {
		obj := &api.PartialObjectMetadata{}
		obj.Namespace, obj.Name, _ = informer.SplitMetaNamespaceKey(key)
		obj.Labels = map[string]string{"app": app}
		require.NoError(t, store.Add(obj))
	}
	return store
}

func keysOf(objects []head) []string {
	keys := []string{}
	for _, obj := range objects {
		keys = append(keys, keyOf(obj))
	}
	return keys
}

func TestLister(t *testing.T) {
	for name, indexers := range map[string]indexer.Indexers[head]{
		"with the index":    {informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[head]},
		"without the index": nil,
	} {
		t.Run(name, func(t *testing.T) {
			l := informer.NewLister(shelf(t, indexers), "pods")
			assert.ElementsMatch(t, []string{"red/a", "red/b", "blue/a", "root"}, keysOf(l.List()))
			assert.ElementsMatch(t, []string{"red/b"},
				keysOf(l.ListFunc(func(obj head) bool { return obj.Labels["app"] == "api" })))
			assert.ElementsMatch(t, []string{"red/a", "red/b"}, keysOf(l.ByNamespace("red").List()))
			assert.ElementsMatch(t, []string{"root"}, keysOf(l.ByNamespace("").List()))
			assert.Empty(t, l.ByNamespace("green").List())
		})
	}
}

func TestListerGet(t *testing.T) {
	l := informer.NewLister(shelf(t, nil), "pods")
	obj, err := l.Get("root")
	require.NoError(t, err)
	assert.Equal(t, "root", obj.Name)
	obj, err = l.ByNamespace("blue").Get("a")
	require.NoError(t, err)
	assert.Equal(t, "blue", obj.Namespace)
	obj, err = l.ByNamespace("").Get("root")
	require.NoError(t, err)
	assert.Equal(t, "root", obj.Name)

	for _, get := range []func() (head, error){
		func() (head, error) { return l.Get("a") },
		func() (head, error) { return l.ByNamespace("blue").Get("b") },
	} {
		obj, err = get()
		assert.Nil(t, obj)
		assert.True(t, api.IsNotFound(err))
	}
	assert.Equal(t, `pods "b" not found`, err.Error())
}
