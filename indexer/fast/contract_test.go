package fast_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/indexer/indexertest"
)

// TestContract runs the common suite against the fast form.
func TestContract(t *testing.T) {
	indexertest.Run(t, indexertest.Implementation{
		Name: "fast",
		New:  func(c indexer.Config[*indexertest.Object]) indexertest.Indexer { return fast.New(c) },
	})
}

func TestNewWithoutKeyFunc(t *testing.T) {
	assert.PanicsWithValue(t, "fast.New: Config.KeyFunc is required", func() {
		fast.New(indexer.Config[*indexertest.Object]{})
	})
}

// Index functions run before the lock is taken; the write must include an index that is added in
// between.
func TestIndexAddedDuringAWrite(t *testing.T) {
	for _, write := range []string{"add", "replace"} {
		t.Run(write, func(t *testing.T) {
			var x *fast.Indexer[*indexertest.Object]
			added := false
			meddling := func(*indexertest.Object) ([]string, error) {
				if !added {
					added = true
					assert.NoError(t, x.AddIndexers(indexer.Indexers[*indexertest.Object]{"node": byNodeUnlessBad}))
				}
				return nil, nil
			}
			x = fast.New(indexer.Config[*indexertest.Object]{
				KeyFunc:  indexertest.KeyFunc,
				Indexers: indexer.Indexers[*indexertest.Object]{"meddling": meddling},
			})
			web, bad := &indexertest.Object{Name: "web", Node: "n1"}, &indexertest.Object{Name: "bad", Node: "bad"}
			if write == "add" {
				require.NoError(t, x.Add(web))
				require.Error(t, x.Add(bad), "the write calls the new index's function")
			} else {
				require.Error(t, x.Replace([]*indexertest.Object{web, bad}, "1"),
					"the write calls the new index's function")
			}
			keys, err := x.IndexKeys("node", "n1")
			assert.NoError(t, err)
			assert.Equal(t, []string{"web"}, keys, "the new index has the object that was being written")
			require.NoError(t, x.Check())
		})
	}
}

// An update allocates only the results of the caller's key and index functions; nil hooks add
// nothing.
func TestAllocations(t *testing.T) {
	web := &indexertest.Object{Namespace: "default", Name: "web", Node: "n1"}
	config := indexer.Config[*indexertest.Object]{
		KeyFunc: indexertest.KeyFunc, Indexers: indexer.Indexers[*indexertest.Object]{"node": indexertest.ByNode},
	}
	for _, trace := range []*indexer.Trace{nil, {}} {
		config.Trace = trace
		x := fast.New(config)
		_ = x.Add(web)
		assert.EqualValues(t, 2, testing.AllocsPerRun(100, func() { _ = x.Update(web) }))
		assert.Zero(t, testing.AllocsPerRun(100, func() { x.GetByKey("default/web") }))
		assert.Zero(t, testing.AllocsPerRun(100, func() { x.Len() }))
		assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() { x.List() }), "the slice")
		assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _, _ = x.ByIndex("node", "n1") }))
		assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() { x.ListKeys() }))
	}
}

// KnownKey returns the store's own string without building one.
func TestKnownKey(t *testing.T) {
	x := fast.New(indexer.Config[*indexertest.Object]{KeyFunc: indexertest.KeyFunc})
	key := string([]byte("default/web"))
	_, _, err := x.Put(key, &indexertest.Object{Namespace: "default", Name: "web"})
	require.NoError(t, err)
	require.NoError(t, x.Add(&indexertest.Object{Name: "web"}))
	known, ok := x.KnownKey("default", "web")
	assert.True(t, ok)
	assert.Same(t, unsafe.StringData(key), unsafe.StringData(known), "not a copy")
	var asked interface {
		KnownKey(namespace, name string) (string, bool)
	} = x
	assert.Zero(t, testing.AllocsPerRun(100, func() { asked.KnownKey("default", "web") }))
	long := strings.Repeat("x", 200)
	for _, name := range []string{"we", "webb", "", long} {
		_, ok = x.KnownKey("default", name)
		assert.False(t, ok, name)
	}
	require.NoError(t, x.Add(&indexertest.Object{Namespace: "default", Name: long}))
	known, ok = x.KnownKey("default", long)
	assert.True(t, ok)
	assert.Equal(t, "default/"+long, known)
	x.DeleteKey("default/web")
	_, ok = x.KnownKey("default", "web")
	assert.False(t, ok, "the object was deleted")
}

// Index functions run before the lock is taken. A Replace that comes in between is before the
// write, which therefore stays.
func TestReplaceDuringAWrite(t *testing.T) {
	web, db := &indexertest.Object{Name: "web"}, &indexertest.Object{Name: "db"}
	var x *fast.Indexer[*indexertest.Object]
	replaced := false
	meddling := func(*indexertest.Object) ([]string, error) {
		if !replaced {
			replaced = true
			assert.NoError(t, x.Replace([]*indexertest.Object{db}, "1"))
		}
		return []string{"any"}, nil
	}
	x = fast.New(indexer.Config[*indexertest.Object]{
		KeyFunc:  indexertest.KeyFunc,
		Indexers: indexer.Indexers[*indexertest.Object]{"meddling": meddling},
	})
	require.NoError(t, x.Add(web))
	_, exists := x.GetByKey("web")
	assert.True(t, exists, "want an object in the store when Add has returned, although a Replace came during Add")
	keys, err := x.IndexKeys("meddling", "any")
	assert.NoError(t, err)
	assert.Equal(t, []string{"db", "web"}, keys,
		"want the index to have the objects of Replace and the one that was added after it")
	require.NoError(t, x.Check())
}
