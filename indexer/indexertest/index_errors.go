package indexertest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
	"orrery/internal/hooks"
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
			assert.Contains(t, string(panicked.Stack), "indexertest.failing",
				"the stack shows where the panic came from")
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
	require.NoError(t, x.Update(pod("a", "web", "n2")),
		"the next good version has no error: the values of the bad old one are not needed")
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
		return
	}
	x := impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc,
		Indexers: indexer.Indexers[*Object]{"b": failing, "a": failing, "node": ByNode}})
	bad := pod("a", "web", "error")
	var all *indexer.IndexErrors
	require.ErrorAs(t, x.Add(bad), &all)
	assert.Equal(t, 2, all.Total, "both indexes that fail are reported")
	require.Len(t, all.First, 2)
	assert.Equal(t, []string{"a", "b"}, []string{all.First[0].Index, all.First[1].Index},
		"errors come in the order of the indexes' names")
	assert.Equal(t,
		`2 index errors: index "a": no values for "a/web": bad node; index "b": no values for "a/web": bad node`,
		all.Error())
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

// traced returns a store with the index "failing" and the hooks.
func (impl Implementation) traced(trace *indexer.Trace) Indexer {
	return impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc, Trace: trace,
		Indexers: indexer.Indexers[*Object]{"failing": failing}})
}

// testTrace: each write calls the hooks for its changes, once, and no other call does.
func testTrace(t *testing.T, impl Implementation) {
	if !impl.has(Traces) {
		return
	}
	var called []string
	record := func(format string, args ...any) { called = append(called, fmt.Sprintf(format, args...)) }
	x := impl.traced(&indexer.Trace{
		Added:       func(key string) { record("added %s", key) },
		Updated:     func(key string) { record("updated %s", key) },
		Deleted:     func(key string) { record("deleted %s", key) },
		Replaced:    func(n int, rv string) { record("replaced by %d at %s", n, rv) },
		IndexFailed: func(errs *indexer.IndexErrors) { record("failed: %v", errs) },
	})
	web, bad := pod("a", "web", "n1"), pod("a", "web", "error")
	const failed = `failed: 1 index errors: index "failing": no values for "a/web": bad node`
	put := func(o *Object) error { _, _, err := x.Put(o.Key(), o); return err }
	for _, step := range []struct {
		what  string
		do    func() error
		calls []string
	}{
		{"Add of a new key", func() error { return x.Add(web) }, []string{"added a/web"}},
		{"Add of a key that exists", func() error { return x.Add(web) }, []string{"updated a/web"}},
		{"Update", func() error { return x.Update(web) }, []string{"updated a/web"}},
		{"Put of a key that exists", func() error { return put(web) }, []string{"updated a/web"}},
		{"Update when an index function fails", func() error { return x.Update(bad) },
			[]string{"updated a/web", failed}},
		{"Delete", func() error { return x.Delete(web) }, []string{"deleted a/web"}},
		{"Delete of a missing key", func() error { return x.Delete(web) }, nil},
		{"DeleteKey of a missing key", func() error { x.DeleteKey("a/web"); return nil }, nil},
		{"Update of a new key", func() error { return x.Update(web) }, []string{"added a/web"}},
		{"DeleteKey", func() error { x.DeleteKey("a/web"); return nil }, []string{"deleted a/web"}},
		{"Put of a new key", func() error { return put(bad) }, []string{"added a/web", failed}},
		{"Replace with a repeated key", func() error { return x.Replace([]*Object{web, pod("a", "db", ""), bad}, "7") },
			[]string{"replaced by 2 at 7", failed}},
		{"Replace by nothing", func() error { return x.Replace(nil, "8") }, []string{"replaced by 0 at 8"}},
		{"Replace without a key", func() error { return x.Replace([]*Object{web, {}}, "9") }, nil},
		{"Add without a key", func() error { return x.Add(&Object{}) }, nil},
		{"Delete without a key", func() error { return x.Delete(&Object{}) }, nil},
		{"AddIndexers", func() error { return x.AddIndexers(indexer.Indexers[*Object]{"node": ByNode}) }, nil},
		{"AddIndexers of an existing name",
			func() error { return x.AddIndexers(indexer.Indexers[*Object]{"node": ByNode}) }, nil},
		{"reads", func() error { x.List(); x.GetByKey("a/web"); _, err := x.ByIndex("node", "n1"); return err }, nil},
	} {
		called = nil
		_ = step.do()
		assert.Equal(t, step.calls, called, "hooks called by %s", step.what)
	}
	require.Error(t, x.Add(bad))
	called = nil
	require.Error(t, x.AddIndexers(indexer.Indexers[*Object]{"late": failing}))
	assert.Equal(t, []string{`failed: 1 index errors: index "late": no values for "a/web": bad node`}, called,
		"hooks called by AddIndexers when an index function fails")

	x = impl.traced(&indexer.Trace{}) // no hooks
	require.Error(t, x.Add(bad))
	require.Error(t, x.Update(bad))
	require.Error(t, x.Replace([]*Object{bad}, "7"))
	x.DeleteKey("a/web")
	assert.Zero(t, x.Len())
}

// testHooksMayUseTheStore: a hook sees the reported write and may write itself.
func testHooksMayUseTheStore(t *testing.T, impl Implementation) {
	if !impl.has(Traces) {
		return
	}
	var x Indexer
	writing := false
	x = impl.traced(hooks.Observe[indexer.Trace](func(hook string, args []any) {
		inTime(t, "the store's lock is held while the hook "+hook+" runs", func() {
			switch written := args[0].(type) {
			case string:
				_, exists := x.GetByKey(written)
				assert.Equal(t, hook != "Deleted", exists, "%s: GetByKey shows the write", hook)
				found, err := x.ByIndex("failing", "n1")
				assert.NoError(t, err)
				assert.Equal(t, exists && written != "a/bad", len(found) == 1, "%s: ByIndex shows the write", hook)
			case int:
				assert.Equal(t, written, x.Len(), "%s: Len shows the write", hook)
			}
			if !writing { // a hook called for this write does not write again
				writing = true
				x.DeleteKey("none")
				writing = false
			}
		})
	}))
	require.NoError(t, x.Add(pod("a", "web", "n1")))
	require.NoError(t, x.Update(pod("a", "web", "n1")))
	require.NoError(t, x.Delete(pod("a", "web", "n1")))
	require.NoError(t, x.Replace(series("a", 10, "1"), "1"))
	require.Error(t, x.Add(pod("a", "bad", "error")))
	require.Error(t, x.AddIndexers(indexer.Indexers[*Object]{"late": failing}))
	require.Error(t, x.Replace([]*Object{pod("a", "bad", "error")}, "1"))
}
