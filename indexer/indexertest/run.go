package indexertest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

// Implementation is a store to be tested.
type Implementation struct {
	Name string
	// New returns an empty store. The Trace of the configuration is nil.
	New func(indexer.Config[*Object]) Indexer
	// Lacks names what the store does not do, with the reason.
	Lacks map[Capability]string
}

// Capability names something in which this project deliberately differs from
// the original.
type Capability string

const (
	// ReportsIndexErrors: an index function that fails costs its index one
	// object and the write returns an error. The original panics, having
	// stored the object and left the index as it was.
	ReportsIndexErrors Capability = "a failing index function is reported by the write"
	// TypedErrors: errors are told apart by type. The original has texts.
	TypedErrors Capability = "errors have types"
)

func (impl Implementation) has(c Capability) bool {
	_, lacks := impl.Lacks[c]
	return !lacks
}

// Run runs the whole suite against impl.
func Run(t *testing.T, impl Implementation) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Implementation)
	}{
		{"an empty store", testEmpty},
		{"add, update, delete", testBasics},
		{"put", testPut},
		{"an object without a key changes nothing", testKeyErrors},
		{"replace", testReplace},
		{"returned slices and maps are the caller's", testOwnership},
		{"resource version", testResourceVersion},
		{"indexes", testIndexes},
		{"an update leaves no stale entry", testNoStaleEntry},
		{"several values", testSeveralValues},
		{"values without objects are forgotten (issue 84959)", testEmptySets},
		{"an unknown index", testUnknownIndex},
		{"adding indexes", testAddIndexers},
		{"adding an index that exists", testIndexerConflict},
		{"a failing index function", testIndexErrors},
		{"a panicking index function", testIndexPanics},
		{"many objects", testMany},
		{"readers see no half of a write: updates", testStaircase},
		{"readers see no half of a write: adds and deletes", testWindow},
		{"readers see no half of a replace", testReplaceIsAtomic},
		{"a moving object is never lost", testMovingObject},
		{"several writers", testSeveralWriters},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, impl) })
	}
}

// indexers are those that most tests use.
func indexers() indexer.Indexers[*Object] {
	return indexer.Indexers[*Object]{"namespace": ByNamespace, "node": ByNode, "label": ByLabel}
}

func (impl Implementation) empty() Indexer {
	return impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc, Indexers: indexers(), ResourceVersionFunc: Version})
}

// with returns a store with the objects.
func (impl Implementation) with(t *testing.T, objects ...*Object) Indexer {
	t.Helper()
	x := impl.empty()
	for _, o := range objects {
		require.NoError(t, x.Add(o))
	}
	return x
}

// names returns the keys of objects, sorted, so that lists can be compared.
func names(objects []*Object) []string {
	all := []string{}
	for _, o := range objects {
		all = append(all, o.Key())
	}
	slices.Sort(all)
	return all
}

func sorted(values []string) []string {
	all := append([]string{}, values...)
	slices.Sort(all)
	return all
}

// assertContent checks that every way to read everything gives the objects.
func assertContent(t *testing.T, x Indexer, want ...*Object) {
	t.Helper()
	listed := x.List()
	assert.Equal(t, names(want), names(listed))
	assert.Equal(t, names(want), sorted(x.ListKeys()))
	byKey := map[string]*Object{}
	for _, o := range listed {
		byKey[o.Key()] = o
	}
	assert.Equal(t, len(want), x.Len())
	for _, o := range want {
		assert.Same(t, o, byKey[o.Key()])
		got, exists := x.GetByKey(o.Key())
		assert.True(t, exists)
		assert.Same(t, o, got)
		got, exists = x.Get(&Object{Namespace: o.Namespace, Name: o.Name})
		assert.True(t, exists)
		assert.Same(t, o, got)
	}
}

// assertIndexed checks that every way to read an index gives, for each value,
// the objects of these keys, and that there are no other values.
func assertIndexed(t *testing.T, x Indexer, index string, want map[string][]string) {
	t.Helper()
	values := []string{}
	for value, keys := range want {
		values = append(values, value)
		objects, err := x.ByIndex(index, value)
		assert.NoError(t, err)
		assert.Equal(t, sorted(keys), names(objects), "index %s, value %s", index, value)
		for _, o := range objects {
			stored, _ := x.GetByKey(o.Key())
			assert.Same(t, stored, o, "the index holds the current object")
		}
		got, err := x.IndexKeys(index, value)
		assert.NoError(t, err)
		assert.Equal(t, sorted(keys), got, "index %s, value %s: keys are sorted", index, value)
	}
	assert.Equal(t, sorted(values), sorted(x.ListIndexFuncValues(index)), "index %s", index)
}

// assertErrorAs checks that err is a T if the store has types for its errors.
func assertErrorAs[T error](t *testing.T, impl Implementation, err error) (typed T) {
	t.Helper()
	if !impl.has(TypedErrors) {
		assert.False(t, errors.As(err, &typed))
		assert.Error(t, err)
		return typed
	}
	require.True(t, errors.As(err, &typed), "%T", err)
	return typed
}

func pod(namespace, name, node string, labels ...string) *Object {
	return &Object{Namespace: namespace, Name: name, Node: node, Labels: labels, Version: "1"}
}

// series makes objects 0..n-1 of one namespace.
func series(namespace string, n int, version string) []*Object {
	all := []*Object{}
	for i := range n {
		o := pod(namespace, fmt.Sprintf("o%05d", i), "")
		o.Version = version
		all = append(all, o)
	}
	return all
}
