package indexertest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

var errBadNode = errors.New("bad node")

// failing is ByNode, but returns an error for one node and panics for another.
func failing(o *Object) ([]string, error) {
	switch o.Node {
	case "error":
		return []string{"garbage"}, errBadNode
	case "panic":
		panic(errBadNode)
	}
	return ByNode(o)
}

func (impl Implementation) failing(t *testing.T, objects ...*Object) Indexer {
	t.Helper()
	x := impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc, Indexers: indexer.Indexers[*Object]{
		"namespace": ByNamespace, "failing": failing, "node": ByNode,
	}})
	for _, o := range objects {
		require.NoError(t, x.Add(o))
	}
	return x
}

func testIndexErrors(t *testing.T, impl Implementation) { testFailing(t, impl, "error") }

func testIndexPanics(t *testing.T, impl Implementation) { testFailing(t, impl, "panic") }

func testFailing(t *testing.T, impl Implementation, how string) {
	if !impl.has(ReportsIndexErrors) {
		testPanicsInstead(t, impl, how)
		return
	}
	x := impl.failing(t, pod("a", "web", "n1"), pod("a", "db", "n1"))
	bad := pod("a", "web", how)

	assertIndexError := func(err error) {
		t.Helper()
		var typed *indexer.IndexError
		require.ErrorAs(t, err, &typed, "want the failure of the index function as an *IndexError")
		assert.Equal(t, "failing", typed.Index, "the error names the index")
		assert.Equal(t, "a/web", typed.Key, "the error names the object")
		assert.ErrorIs(t, err, errBadNode, "the error wraps that of the index function")
		want := `index "failing": no values for "a/web": bad node`
		if how == "panic" {
			var panicked *indexer.PanicError
			require.ErrorAs(t, err, &panicked, "want the panic of the index function as a *PanicError")
			assert.Equal(t, errBadNode, panicked.Value, "the error has the value of the panic")
			assert.Contains(t, string(panicked.Stack), "indexertest.failing", "the stack shows where the panic came from")
			want = `index "failing": no values for "a/web": panic: bad node`
		}
		assert.Equal(t, want, err.Error(), "the text names the index, the object and the failure")
	}
	assertStored := func() {
		t.Helper()
		got, exists := x.GetByKey("a/web")
		assert.True(t, exists, "the object is stored although an index function fails for it")
		assert.Same(t, bad, got, "the new object is stored although an index function fails for it")
		assertIndexed(t, x, "failing", map[string][]string{"n1": {"a/db"}})
		assertIndexed(t, x, "node", map[string][]string{how: {"a/web"}, "n1": {"a/db"}})
		assertIndexed(t, x, "namespace", map[string][]string{"a": {"a/web", "a/db"}})
	}

	assertIndexError(x.Update(bad))
	assertStored()
	assertIndexError(x.Update(bad)) // again
	assertStored()
	old, existed, err := x.Put("a/web", bad)
	assertIndexError(err)
	assert.True(t, existed, "Put reports that the key existed although an index function fails")
	assert.Same(t, bad, old, "Put returns the previous object although an index function fails")
	assertStored()

	_, err = x.Index("failing", bad)
	assertIndexError(err)
	_, err = x.Index("failing", &Object{Node: how})
	assert.ErrorIs(t, err, errBadNode, "Index returns the failure of the index function")
	assert.ErrorContains(t, err, "an object without a key", "Index accepts an object without a key")

	assertIndexError(x.Replace([]*Object{bad, pod("a", "db", "n1")}, "2"))
	assertStored()

	err = x.AddIndexers(indexer.Indexers[*Object]{"late": failing})
	var typed *indexer.IndexError
	require.ErrorAs(t, err, &typed, "AddIndexers returns the failure of a new index function")
	assert.Equal(t, "late", typed.Index, "the error names the new index")
	assertIndexed(t, x, "late", map[string][]string{"n1": {"a/db"}})

	// The next good version repairs the index, and a bad one can be deleted.
	require.NoError(t, x.Update(pod("a", "web", "n2")), "the next good version has no error: the values of the bad old one are not needed")
	assertIndexed(t, x, "failing", map[string][]string{"n1": {"a/db"}, "n2": {"a/web"}})
	assertIndexed(t, x, "late", map[string][]string{"n1": {"a/db"}, "n2": {"a/web"}})
	_ = x.Update(bad)
	require.NoError(t, x.Delete(bad), "an object for which an index function fails can be deleted")
	assertIndexed(t, x, "failing", map[string][]string{"n1": {"a/db"}})
	assertIndexed(t, x, "node", map[string][]string{"n1": {"a/db"}})
}

// testManyIndexErrors: a function that fails for every object must not fill the memory with errors.
func testManyIndexErrors(t *testing.T, impl Implementation) {
	if !impl.has(ReportsIndexErrors) {
		testPanicsInstead(t, impl, "error")
		return
	}
	x := impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc, Indexers: indexer.Indexers[*Object]{"b": failing, "a": failing, "node": ByNode}})
	bad := pod("a", "web", "error")
	var all *indexer.IndexErrors
	require.ErrorAs(t, x.Add(bad), &all)
	assert.Equal(t, 2, all.Total, "both indexes that fail are reported")
	require.Len(t, all.First, 2)
	assert.Equal(t, []string{"a", "b"}, []string{all.First[0].Index, all.First[1].Index}, "errors come in the order of the indexes' names")
	assert.Equal(t, `2 index errors: index "a": no values for "a/web": bad node; index "b": no values for "a/web": bad node`, all.Error())
	assert.ErrorIs(t, all, errBadNode)
	assertIndexed(t, x, "node", map[string][]string{"error": {"a/web"}})

	items := series("a", 300, "1")
	for _, o := range items {
		o.Node = "panic"
	}
	err := x.Replace(items, "2")
	require.ErrorAs(t, err, &all)
	assert.Equal(t, 600, all.Total, "every error is counted")
	assert.Len(t, all.First, 10, "ten errors are kept")
	assert.ErrorContains(t, err, "600 index errors: ")
	assert.ErrorContains(t, err, "; ...")
	assertContent(t, x, items...)
	require.ErrorAs(t, x.AddIndexers(indexer.Indexers[*Object]{"c": failing}), &all)
	assert.Equal(t, 300, all.Total)
	assert.Contains(t, x.GetIndexers(), "c", "the index exists without the objects for which its function failed")
}

// testPanicsInstead asserts client-go's behaviour: it panics on the writer's (the informer's)
// goroutine after storing the object and before updating the index.
func testPanicsInstead(t *testing.T, impl Implementation, how string) {
	x := impl.failing(t, pod("a", "web", "n1"))
	bad := pod("a", "web", how)
	assert.Panics(t, func() { _ = x.Update(bad) })
	got, _ := x.GetByKey("a/web")
	assert.Same(t, bad, got, "the object was stored before the panic")
	stale, err := x.IndexKeys("failing", "n1")
	assert.NoError(t, err)
	assert.Equal(t, []string{"a/web"}, stale)
}
