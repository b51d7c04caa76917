package indexer_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
	"orrery/indexer/indexertest"
)

// client-go: an index function's error panics while the store's lock is held,
// on the informer's goroutine.
func TestIndexFunctionErrorDoesNotPanic(t *testing.T) {
	x := indexer.New(config(nil))
	for _, node := range []string{"bad", "worse"} {
		err := x.Add(&indexertest.Object{Name: "web", Node: node})
		var typed *indexer.IndexError
		require.ErrorAs(t, err, &typed)
		require.NoError(t, x.Add(&indexertest.Object{Name: "db", Node: "n1"}), "no lock is left behind")
	}
	assert.ElementsMatch(t, []string{"web", "db"}, x.ListKeys())
}

// A panic says where it came from.
func TestIndexFunctionPanicKeepsTheStack(t *testing.T) {
	x := indexer.New(config(nil))
	err := x.Add(&indexertest.Object{Name: "web", Node: "worse"})
	var panicked *indexer.PanicError
	require.ErrorAs(t, err, &panicked)
	assert.Contains(t, string(panicked.Stack), "byNodeUnlessBad")
	assert.Equal(t, `index "node": no values for "web": panic: worse node`, err.Error())
	assert.NoError(t, errors.Unwrap(panicked), "its value is no error")
}

// kubernetes issue 84959: sets without keys stayed in the index for ever.
func TestIssue84959EmptySetsAreRemoved(t *testing.T) {
	x := indexer.New(config(nil))
	for i := range 1000 {
		require.NoError(t, x.Add(&indexertest.Object{Name: "web", Node: fmt.Sprintf("n%d", i)}))
	}
	assert.Len(t, x.Snapshot().Indices["node"], 1)
	x.DeleteKey("web")
	assert.Empty(t, x.Snapshot().Indices["node"])
	require.NoError(t, x.Check())
}

// A broken index function must not turn one Replace into a gigabyte of errors.
func TestIndexErrorsAreBounded(t *testing.T) {
	x := indexer.New(config(nil))
	items := []*indexertest.Object{}
	for i := range 500 {
		items = append(items, &indexertest.Object{Name: fmt.Sprint(i), Node: "worse"})
	}
	err := x.Replace(items, "1")
	var all *indexer.IndexErrors
	require.ErrorAs(t, err, &all)
	assert.Equal(t, 500, all.Total)
	assert.Len(t, all.First, 10)
	assert.Contains(t, err.Error(), "500 index errors: ")
	assert.Contains(t, err.Error(), "; ...")
	var first *indexer.IndexError
	require.ErrorAs(t, err, &first)
	assert.Equal(t, "0", first.Key)
	assert.Equal(t, 500, x.Len(), "everything is stored")
}

// Several indexes may fail for one object.
func TestSeveralIndexesFail(t *testing.T) {
	x := indexer.New(config(nil))
	require.NoError(t, x.AddIndexers(indexer.Indexers[*indexertest.Object]{
		"another": byNodeUnlessBad, "namespace": indexertest.ByNamespace,
	}))
	err := x.Add(&indexertest.Object{Namespace: "a", Name: "web", Node: "bad"})
	var all *indexer.IndexErrors
	require.ErrorAs(t, err, &all)
	assert.Equal(t, []string{"another", "node"}, []string{all.First[0].Index, all.First[1].Index})
	assert.Equal(t, `2 index errors: index "another": no values for "a/web": bad node; index "node": no values for "a/web": bad node`, err.Error())
	keys, err := x.IndexKeys("namespace", "a")
	assert.NoError(t, err)
	assert.Equal(t, []string{"a/web"}, keys)
}

// An index function may read the store: it runs without a lock that readers
// would need.
func TestIndexFunctionMayReadTheStore(t *testing.T) {
	var x *indexer.Indexer[*indexertest.Object]
	siblings := func(*indexertest.Object) ([]string, error) {
		if x == nil {
			return nil, nil
		}
		return []string{fmt.Sprint(len(x.List()), x.Len())}, nil
	}
	x = indexer.New(indexer.Config[*indexertest.Object]{
		KeyFunc:  indexertest.KeyFunc,
		Indexers: indexer.Indexers[*indexertest.Object]{"siblings": siblings},
	})
	require.NoError(t, x.Add(&indexertest.Object{Name: "a"}))
	require.NoError(t, x.Replace(x.List(), "1"))
	require.NoError(t, x.AddIndexers(indexer.Indexers[*indexertest.Object]{"again": siblings}))
	assert.Equal(t, []string{"1 1"}, x.ListIndexFuncValues("again"))
}

// Index functions run before the lock is taken; an index that is added in
// between must not be forgotten.
func TestIndexAddedDuringAWrite(t *testing.T) {
	for _, write := range []string{"add", "replace"} {
		t.Run(write, func(t *testing.T) {
			var x *indexer.Indexer[*indexertest.Object]
			added := false
			meddling := func(o *indexertest.Object) ([]string, error) {
				if !added {
					added = true
					err := x.AddIndexers(indexer.Indexers[*indexertest.Object]{"node": byNodeUnlessBad})
					assert.NoError(t, err)
				}
				return nil, nil
			}
			x = indexer.New(indexer.Config[*indexertest.Object]{
				KeyFunc:  indexertest.KeyFunc,
				Indexers: indexer.Indexers[*indexertest.Object]{"meddling": meddling},
			})
			web, bad := &indexertest.Object{Name: "web", Node: "n1"}, &indexertest.Object{Name: "bad", Node: "bad"}
			if write == "add" {
				require.NoError(t, x.Add(web))
				require.Error(t, x.Add(bad))
			} else {
				require.Error(t, x.Replace([]*indexertest.Object{web, bad}, "1"))
			}
			keys, err := x.IndexKeys("node", "n1")
			assert.NoError(t, err)
			assert.Equal(t, []string{"web"}, keys)
			require.NoError(t, x.Check())
		})
	}
}

// A loop over everything may write to the store it loops over; a List that
// holds a lock would make that a deadlock.
func TestWritingWhileIterating(t *testing.T) {
	x := indexer.New(config(nil))
	for i := range 500 {
		require.NoError(t, x.Add(&indexertest.Object{Name: fmt.Sprint(i), Node: "n1"}))
	}
	seen := 0
	for key, o := range x.All() {
		seen++
		assert.Equal(t, key, o.Key())
		x.DeleteKey(key)
		require.NoError(t, x.Add(&indexertest.Object{Name: "new" + key}))
	}
	assert.Equal(t, 500, seen)
	for range x.All() {
		break // ending early is fine
	}
	assert.Equal(t, 500, x.Len())
	require.NoError(t, x.Check())
}

// What has been deleted or replaced is not kept in memory by the store, even
// if somebody has listed it before.
func TestOldObjectsAreCollectable(t *testing.T) {
	x := indexer.New(config(nil))
	freed := make(chan string, 10)
	add := func(name, version string) {
		o := &indexertest.Object{Name: name, Node: "n1", Version: version}
		runtime.AddCleanup(o, func(what string) { freed <- what }, name+version)
		require.NoError(t, x.Add(o))
	}
	for i := range 300 {
		require.NoError(t, x.Add(&indexertest.Object{Name: fmt.Sprint(i)}))
	}
	add("web", "1")
	add("db", "1")
	x.List() // from here on the lists are shared with a reader that is gone
	_, _ = x.ByIndex("node", "n1")
	add("web", "2")
	x.DeleteKey("db")
	require.NoError(t, x.Add(&indexertest.Object{Name: "more", Node: "n1"})) // lets the closed views go

	seen := map[string]bool{}
	for len(seen) < 2 {
		runtime.GC()
		select {
		case what := <-freed:
			seen[what] = true
		default:
			runtime.Gosched()
		}
	}
	assert.Equal(t, map[string]bool{"web1": true, "db1": true}, seen)
	runtime.KeepAlive(x)
}

func TestNewWithoutKeyFunc(t *testing.T) {
	assert.PanicsWithValue(t, "indexer.New: Config.KeyFunc is required", func() {
		indexer.New(indexer.Config[*indexertest.Object]{})
	})
}

// The map that was given to New is the caller's.
func TestConfigIsCopied(t *testing.T) {
	indexers := indexer.Indexers[*indexertest.Object]{"node": indexertest.ByNode}
	x := indexer.New(indexer.Config[*indexertest.Object]{KeyFunc: indexertest.KeyFunc, Indexers: indexers})
	delete(indexers, "node")
	delete(x.GetIndexers(), "node")
	assert.Contains(t, x.GetIndexers(), "node")
}

// An object without a key can still be asked about; the error then has no key
// to name.
func TestIndexOfAnObjectWithoutKey(t *testing.T) {
	x := indexer.New(config(nil))
	require.NoError(t, x.Add(&indexertest.Object{Name: "web", Node: "n1"}))
	related, err := x.Index("node", &indexertest.Object{Node: "n1"})
	require.NoError(t, err)
	assert.Len(t, related, 1)
	_, err = x.Index("node", &indexertest.Object{Node: "bad"})
	assert.ErrorContains(t, err, "an object without a key")
}
