package indexertest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

// traced returns a store with the index "failing" and the hooks.
func (impl Implementation) traced(trace *indexer.Trace) Indexer {
	return impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc, Trace: trace, Indexers: indexer.Indexers[*Object]{"failing": failing}})
}

// testTrace: each write calls the hooks for its changes, once, and no other call does.
func testTrace(t *testing.T, impl Implementation) {
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
		{"Update when an index function fails", func() error { return x.Update(bad) }, []string{"updated a/web", failed}},
		{"Delete", func() error { return x.Delete(web) }, []string{"deleted a/web"}},
		{"Delete of a missing key", func() error { return x.Delete(web) }, nil},
		{"DeleteKey of a missing key", func() error { x.DeleteKey("a/web"); return nil }, nil},
		{"Update of a new key", func() error { return x.Update(web) }, []string{"added a/web"}},
		{"DeleteKey", func() error { x.DeleteKey("a/web"); return nil }, []string{"deleted a/web"}},
		{"Put of a new key", func() error { return put(bad) }, []string{"added a/web", failed}},
		{"Replace with a repeated key", func() error { return x.Replace([]*Object{web, pod("a", "db", ""), bad}, "7") }, []string{"replaced by 2 at 7", failed}},
		{"Replace by nothing", func() error { return x.Replace(nil, "8") }, []string{"replaced by 0 at 8"}},
		{"Replace without a key", func() error { return x.Replace([]*Object{web, {}}, "9") }, nil},
		{"Add without a key", func() error { return x.Add(&Object{}) }, nil},
		{"Delete without a key", func() error { return x.Delete(&Object{}) }, nil},
		{"AddIndexers", func() error { return x.AddIndexers(indexer.Indexers[*Object]{"node": ByNode}) }, nil},
		{"AddIndexers of an existing name", func() error { return x.AddIndexers(indexer.Indexers[*Object]{"node": ByNode}) }, nil},
		{"reads", func() error { x.List(); x.GetByKey("a/web"); _, err := x.ByIndex("node", "n1"); return err }, nil},
	} {
		called = nil
		if impl.has(Traces) {
			_ = step.do()
			assert.Equal(t, step.calls, called, "hooks called by %s", step.what)
		} else if assert.NotPanics(t, func() { defer func() { _ = recover() }(); _ = step.do() }) {
			assert.Empty(t, called)
		}
	}
	if !impl.has(Traces) {
		return
	}
	require.Error(t, x.Add(bad))
	called = nil
	require.Error(t, x.AddIndexers(indexer.Indexers[*Object]{"late": failing}))
	assert.Equal(t, []string{`failed: 1 index errors: index "late": no values for "a/web": bad node`}, called, "hooks called by AddIndexers when an index function fails")

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
		return // testTrace asserts that there are no hooks
	}
	var x Indexer
	writing := false
	write := func() { // a hook called for this write does not write again
		if !writing {
			writing = true
			x.DeleteKey("none")
			writing = false
		}
	}
	within := func(hook string, use func()) {
		inTime(t, "the store's lock is held while the hook "+hook+" runs", use)
	}
	sees := func(hook string, want bool) func(string) {
		return func(key string) {
			within(hook, func() {
				_, exists := x.GetByKey(key)
				assert.Equal(t, want, exists, "%s: GetByKey shows the write", hook)
				found, err := x.ByIndex("failing", "n1")
				assert.NoError(t, err)
				assert.Equal(t, want && key != "a/bad", len(found) == 1, "%s: ByIndex shows the write", hook)
				write()
			})
		}
	}
	x = impl.traced(&indexer.Trace{
		Added: sees("Added", true), Updated: sees("Updated", true), Deleted: sees("Deleted", false),
		Replaced: func(n int, _ string) {
			within("Replaced", func() { assert.Equal(t, n, x.Len(), "Replaced: Len shows the write"); write() })
		},
		IndexFailed: func(*indexer.IndexErrors) { within("IndexFailed", func() { x.List(); write() }) },
	})
	require.NoError(t, x.Add(pod("a", "web", "n1")))
	require.NoError(t, x.Update(pod("a", "web", "n1")))
	require.NoError(t, x.Delete(pod("a", "web", "n1")))
	require.NoError(t, x.Replace(series("a", 10, "1"), "1"))
	require.Error(t, x.Add(pod("a", "bad", "error")))
	require.Error(t, x.AddIndexers(indexer.Indexers[*Object]{"late": failing}))
	require.Error(t, x.Replace([]*Object{pod("a", "bad", "error")}, "1"))
}
