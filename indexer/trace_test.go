package indexer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
	"orrery/indexer/indexertest"
)

func config(trace *indexer.Trace) indexer.Config[*indexertest.Object] {
	return indexer.Config[*indexertest.Object]{
		KeyFunc:  indexertest.KeyFunc,
		Indexers: indexer.Indexers[*indexertest.Object]{"node": byNodeUnlessBad},
		Trace:    trace,
	}
}

func TestTrace(t *testing.T) {
	var told []string
	tell := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
	var x *indexer.Indexer[*indexertest.Object]
	x = indexer.New(config(&indexer.Trace{
		Added: func(key string) {
			_, exists := x.GetByKey(key)
			tell("added %s, is there: %v", key, exists)
		},
		Updated: func(key string) { tell("updated %s", key) },
		Deleted: func(key string) {
			_, exists := x.GetByKey(key)
			tell("deleted %s, is there: %v", key, exists)
		},
		Replaced:    func(n int, rv string) { tell("replaced by %d at %s", n, rv) },
		IndexFailed: func(errs *indexer.IndexErrors) { tell("failed: %v", errs) },
	}))
	web := &indexertest.Object{Name: "web", Node: "n1"}
	bad := &indexertest.Object{Name: "web", Node: "bad"}
	require.NoError(t, x.Add(web))
	require.NoError(t, x.Update(web))
	require.Error(t, x.Update(bad))
	require.NoError(t, x.Delete(web))
	require.NoError(t, x.Delete(web))
	_, _, err := x.Put("web", web)
	require.NoError(t, err)
	_, _, err = x.Put("web", bad)
	require.Error(t, err)
	require.NoError(t, x.Delete(web))
	x.DeleteKey("web")
	require.NoError(t, x.Add(web))
	x.DeleteKey("web")
	require.Error(t, x.Replace([]*indexertest.Object{web, bad}, "7"))
	require.Error(t, x.AddIndexers(indexer.Indexers[*indexertest.Object]{"more": byNodeUnlessBad}))
	require.Error(t, x.Add(&indexertest.Object{}))
	assert.Equal(t, []string{
		"added web, is there: true",
		"updated web",
		"updated web",
		`failed: 1 index errors: index "node": no values for "web": bad node`,
		"deleted web, is there: false",
		"added web, is there: true",
		"updated web",
		`failed: 1 index errors: index "node": no values for "web": bad node`,
		"deleted web, is there: false",
		"added web, is there: true",
		"deleted web, is there: false",
		"replaced by 1 at 7",
		`failed: 1 index errors: index "node": no values for "web": bad node`,
		`failed: 1 index errors: index "more": no values for "web": bad node`,
	}, told)
}

// A trace with no hooks is as good as none.
func TestEmptyTrace(t *testing.T) {
	x := indexer.New(config(&indexer.Trace{}))
	web := &indexertest.Object{Name: "web", Node: "bad"}
	require.Error(t, x.Add(web))
	require.Error(t, x.Update(web))
	require.Error(t, x.Replace([]*indexertest.Object{web}, "7"))
	x.DeleteKey("web")
	assert.Zero(t, x.Len())
}

// What an update allocates is the key and the index function's answer, which
// are the callers' functions; hooks that are not set add nothing.
func TestAllocations(t *testing.T) {
	web := &indexertest.Object{Namespace: "default", Name: "web", Node: "n1"}
	update := func(trace *indexer.Trace) float64 {
		x := indexer.New(config(trace))
		_ = x.Add(web)
		return testing.AllocsPerRun(100, func() { _ = x.Update(web) })
	}
	assert.EqualValues(t, 2, update(nil))
	assert.EqualValues(t, 2, update(&indexer.Trace{}))

	x := indexer.New(config(nil))
	_ = x.Add(web)
	assert.Zero(t, testing.AllocsPerRun(100, func() { x.GetByKey("default/web") }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { x.Len() }))
	assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() { x.List() }), "the slice")
	assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _, _ = x.ByIndex("node", "n1") }))
	assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() { x.ListKeys() }))
}
