package indexertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

// testIndexes: Index accepts any object, stored or not.
func testIndexes(t *testing.T, impl Implementation) {
	// b/new is not scheduled and has no labels: it is in no bucket of these indexes.
	x := script("add a/web@n1+tier=front; add a/db@n2+tier=back; add b/web@n1+tier=front; add b/new").play(t, impl)
	keys, err := x.IndexKeys("node", "n9")
	assert.NoError(t, err)
	assert.Empty(t, keys)
	for node, want := range map[string][]string{"n1": {"a/web", "b/web"}, "": {}, "n9": {}} {
		related, err := x.Index("node", pod("z", "stranger", node))
		assert.NoError(t, err)
		assert.Equal(t, want, names(related))
	}
}

// testAdditionHasNoOldObject: index functions need not accept a zero object.
func testAdditionHasNoOldObject(t *testing.T, impl Implementation) {
	var called []*Object
	x := impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc,
		Indexers: indexer.Indexers[*Object]{"namespace": func(o *Object) ([]string, error) {
			called = append(called, o)
			return ByNamespace(o)
		}}})
	for _, write := range []struct {
		name string
		add  func(*Object) error
	}{
		{"Add", x.Add},
		{"Update", x.Update},
		{"Put", func(o *Object) error { _, _, err := x.Put(o.Key(), o); return err }},
	} {
		called = nil
		added := pod("a", write.name, "n1")
		require.NoError(t, write.add(added))
		require.NotEmpty(t, called, "%s of a new key calls the index functions", write.name)
		for _, o := range called {
			require.Same(t, added, o,
				"%s of a new key calls index functions for the new object only, never with a zero object", write.name)
		}
	}
}

func testSeveralValues(t *testing.T, impl Implementation) {
	x := script("add a/other+y+z; update a/web+x+y; update a/web+x+y; update a/web+y+x; update a/web+y+z+w; "+
		"update a/web+w+w+w; update a/web+w; update a/web; update a/web+y").play(t, impl)
	related, err := x.Index("label", pod("b", "stranger", "", "y", "z", "none"))
	assert.NoError(t, err)
	assert.Equal(t, []string{"a/other", "a/web"}, names(related),
		"each object once, although one has two of the values")
	related, err = x.Index("label", pod("b", "stranger", "", "z", "none"))
	assert.NoError(t, err)
	assert.Equal(t, []string{"a/other"}, names(related))
	require.NoError(t, x.Add(pod("a", "third", "", "third")))
	_, err = x.Index("label", pod("b", "stranger", "", "z", "third"))
	assert.NoError(t, err)
	_, err = x.Index("label", pod("b", "stranger", "", "third", "z"))
	assert.NoError(t, err)
	assertIndexed(t, x, "label", map[string][]string{"y": {"a/web", "a/other"}, "z": {"a/other"}, "third": {"a/third"}})
	x.DeleteKey("a/third")

	require.NoError(t, x.Delete(pod("a", "other", "")))
	assertIndexed(t, x, "label", map[string][]string{"y": {"a/web"}})
}

// testRepeatedValues: an index function may repeat a value. The object is found once, leaves the
// index with one deletion, and the function's slice is unchanged.
func testRepeatedValues(t *testing.T, impl Implementation) {
	x := script("add a/web@n1+z+x+z+x+a; add a/db@n1+x; update a/web@n1+z+x+z+x+a; "+
		"replace a/web@n1+z+x+z+x+a a/db@n1+x").play(t, impl)
	require.NoError(t, x.AddIndexers(indexer.Indexers[*Object]{"late": ByLabel}))
	web, _ := x.GetByKey("a/web")
	related, err := x.Index("label", web)
	assert.NoError(t, err)
	assert.Equal(t, []string{"a/db", "a/web"}, names(related),
		"Index returns an object with several of the values once")
	assert.Equal(t, []string{"z", "x", "z", "x", "a"}, web.Labels,
		"the store leaves the slice of an index function alone")
	assertConsistent(t, x)
	require.NoError(t, x.Update(pod("a", "web", "n1", "x", "x")))
	assertConsistent(t, x)
	require.NoError(t, x.Delete(web))
	assertIndexed(t, x, "label", map[string][]string{"x": {"a/db"}})
	assertIndexed(t, x, "late", map[string][]string{"x": {"a/db"}})
}

// testEmptySets: values that come and go (owners, nodes, job names) made client-go's index grow
// without bound.
func testEmptySets(t *testing.T, impl Implementation) {
	x := impl.empty()
	for i := range 1000 {
		node := "node-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		require.NoError(t, x.Add(pod("a", "web", node, node, "common")))
		assertKeys(t, `ListIndexFuncValues("node")`, []string{node}, x.ListIndexFuncValues("node"))
		assertKeys(t, `ListIndexFuncValues("label")`, []string{"common", node}, sorted(x.ListIndexFuncValues("label")))
		assert.Len(t, x.Snapshot().Indices["node"], 1, "want a value without objects to be forgotten")
		if t.Failed() {
			return // each further round would fail with a longer message
		}
	}
	require.NoError(t, x.Delete(pod("a", "web", "")))
	for index := range indexers() {
		assert.Empty(t, x.ListIndexFuncValues(index), "an empty store has no index values")
		assert.Empty(t, x.Snapshot().Indices[index], "an empty store has no index values")
	}
}

func testUnknownIndex(t *testing.T, impl Implementation) {
	x := impl.with(t, pod("a", "web", "n1"))
	reads := map[string]func(name string) error{
		"ByIndex":   func(name string) error { _, err := x.ByIndex(name, "n1"); return err },
		"IndexKeys": func(name string) error { _, err := x.IndexKeys(name, "n1"); return err },
		"Index":     func(name string) error { _, err := x.Index(name, pod("a", "web", "n1")); return err },
	}
	for call, read := range reads {
		for _, name := range []string{"nothing", "", "n1"} {
			err := read(name)
			require.Error(t, err, "%s of an unknown index is an error", call)
			unknown := assertErrorAs[*indexer.UnknownIndexError](t, impl, err)
			if unknown != nil {
				assert.Equal(t, name, unknown.Index, "%s: the error names the index", call)
			}
			assert.ErrorContains(t, err, name, "%s: the error names the index", call)
		}
		assert.NoError(t, read("node"), call)
	}
	assert.Empty(t, x.ListIndexFuncValues("nothing"), "an unknown index has no values")
	assert.Len(t, x.Snapshot().Indices, 3, "asking for an index does not make one")
}

func testAddIndexers(t *testing.T, impl Implementation) {
	x := impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc})
	assert.Empty(t, x.GetIndexers())
	require.NoError(t, x.AddIndexers(indexer.Indexers[*Object]{"namespace": ByNamespace}))

	web, db := pod("a", "web", "n1", "x", "y"), pod("b", "db", "", "y")
	require.NoError(t, x.Add(web))
	require.NoError(t, x.Add(db))
	assertHolds(t, x, web, db)

	// The same with objects.
	require.NoError(t, x.AddIndexers(indexer.Indexers[*Object]{"node": ByNode, "label": ByLabel}))
	assertHolds(t, x, web, db)

	got := x.GetIndexers()
	assert.Len(t, got, 3)
	for name := range indexers() {
		require.NotNil(t, got[name])
	}
	values, err := got["node"](web)
	assert.NoError(t, err)
	assert.Equal(t, []string{"n1"}, values)

	// All of them are updated, and survive a Replace.
	require.NoError(t, x.Update(pod("a", "web", "n2", "x")))
	assertConsistent(t, x)
	require.NoError(t, x.Replace([]*Object{db}, "2"))
	assertHolds(t, x, db)
	require.NoError(t, x.AddIndexers(nil))
}

func testIndexerConflict(t *testing.T, impl Implementation) {
	x := impl.with(t, pod("a", "web", "n1"))
	always := func(*Object) ([]string, error) { return []string{"always"}, nil }
	err := x.AddIndexers(indexer.Indexers[*Object]{"node": always, "label": always, "new": always})
	conflict := assertErrorAs[*indexer.IndexerConflictError](t, impl, err)
	if conflict != nil {
		assert.Equal(t, []string{"label", "node"}, conflict.Names, "the error names the indexes that exist, sorted")
	}
	assert.ErrorContains(t, err, "indexer conflict")
	assert.Len(t, x.GetIndexers(), 3, "nothing was added")
	_, err = x.ByIndex("new", "always")
	assert.Error(t, err)
	assertIndexed(t, x, "node", map[string][]string{"n1": {"a/web"}})

	require.NoError(t, x.AddIndexers(indexer.Indexers[*Object]{"new": always}))
	assertIndexed(t, x, "new", map[string][]string{"always": {"a/web"}})
}
