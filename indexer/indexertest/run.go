// Package indexertest tests the behaviour of an object store with indexes.
//
// [Run] takes an [Implementation] and tests it. The suite runs against the textbook form, against
// package fast and, in the module upstream, against client-go's cache.NewIndexer. It needs only an
// indexer.Interface of [*Object], so one call tests a store of your own:
//
//	func TestContract(t *testing.T) {
//		indexertest.Run(t, indexertest.Implementation{
//			Name: "mine",
//			New:  func(c indexer.Config[*indexertest.Object]) indexertest.Indexer { return NewMine(c) },
//		})
//	}
//
// Where a store deliberately does less, there is a [Capability]. The store names those that it
// lacks, with the reason.
//
// The concurrent tests start readers and writers and wait for all of them. They check the content,
// never the time: a reader that sees half of a write fails the test on any machine. Only a deadlock
// reaches the limits of 20 seconds in some tests.
package indexertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

// Implementation is a store under test.
type Implementation struct {
	Name string
	// New returns a new store.
	New func(indexer.Config[*Object]) Indexer
	// Lacks names the missing capabilities, with the reasons.
	Lacks map[Capability]string
}

// Capability names something that not every store does.
type Capability string

const (
	// ReportsIndexErrors: a failing index function affects only its own index, and the write
	// returns an error. client-go panics, with the object stored and the index unchanged.
	ReportsIndexErrors Capability = "a failing index function is reported by the write"
	// TypedErrors: errors have types. client-go has only texts.
	TypedErrors Capability = "errors have types"
	// Traces: the store calls the hooks of Config.Trace. client-go has none.
	Traces Capability = "the store calls trace hooks"
	// ReadersDoNotWait: writes call index functions without a lock that readers need, and reads
	// copy without a lock that writers need. With one lock for everything, a slow index function
	// blocks all readers and a long List all writers.
	ReadersDoNotWait Capability = "readers and writers do not wait for each other's work"
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
		{"add, update, delete", script("add a/web@n1; add a/db@n1; update a/new@n1; add a/web@n1; " +
			"delete a/db@other; delete a/db; deletekey a/new; deletekey a/new; add a/db@n1").run},
		{"put", testPut},
		{"an object without a key changes nothing", testKeyErrors},
		{"replace", script("add a/web@n1+x; add b/db@n2+y; replace b/db@n3+z c/new@n1; " +
			"replace d/twice@n1 d/twice@n2; update d/twice@n7; replace; add d/twice@n1").run},
		{"returned slices and maps are the caller's", testOwnership},
		{"what was read does not change", testReadsStay},
		{"iteration", testIteration},
		{"snapshot", testSnapshot},
		{"old objects are collected", testOldObjectsAreCollected},
		{"many objects", testMany},
		{"indexes", testIndexes},
		{"an addition has no old object", testAdditionHasNoOldObject},
		{"an update leaves no stale entry", script("add a/web; add a/db@n1; update a/web@n1; update a/web@n1; " +
			"update a/web@n2; update a/web; update a/web@n3; delete a/web@whatever").run},
		{"several values", testSeveralValues},
		{"one value in several indexes", script("add same/web@same+same; add same/db@other+other; add other/db@same; " +
			"update same/web@other+same; deletekey same/web").run},
		{"the empty value", script("add node+; add a/web++x; update a/web+x; deletekey node").run},
		{"repeated values", testRepeatedValues},
		{"values without objects are forgotten (issue 84959)", testEmptySets},
		{"an unknown index", testUnknownIndex},
		{"adding indexes", testAddIndexers},
		{"adding an index that exists", testIndexerConflict},
		{"a failing index function", testIndexErrors},
		{"a panicking index function", testIndexPanics},
		{"many index functions fail", testManyIndexErrors},
		{"trace", testTrace},
		{"hooks run without a lock", testHooksMayUseTheStore},
		{"readers never see half of a write: updates", testStaircase},
		{"readers never see half of a write: adds and deletes", testWindow},
		{"readers never see half of a replace", testReplaceIsAtomic},
		{"readers and a slow index function", testSlowIndexFunction},
		{"a moving object is never lost", testMovingObject},
		{"several writers", testSeveralWriters},
		{"several writers of one key", testOneKey},
		{"adding an index while objects are written", testAddIndexersWhileWriting},
		{"replacing while objects are written", testReplaceWhileWriting},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, impl) })
	}
}

// indexers returns the indexes of most tests.
func indexers() indexer.Indexers[*Object] {
	return indexer.Indexers[*Object]{"namespace": ByNamespace, "node": ByNode, "label": ByLabel}
}

func (impl Implementation) empty() Indexer {
	return impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc, Indexers: indexers()})
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

// assertContent asserts that every kind of read returns exactly the objects.
func assertContent(t *testing.T, x Indexer, want ...*Object) {
	t.Helper()
	listed := x.List()
	assertKeys(t, "List", names(want), names(listed))
	assertKeys(t, "ListKeys", names(want), sorted(x.ListKeys()))
	assert.Equal(t, len(want), x.Len(), "Len counts the objects")
	byKey, iterated := map[string]*Object{}, map[string]*Object{}
	for _, o := range listed {
		byKey[o.Key()] = o
	}
	for key, o := range x.All() {
		if iterated[key] != nil {
			assert.Fail(t, "All yields every key once", key)
		}
		iterated[key] = o
	}
	assert.Len(t, iterated, len(want), "All yields every object")
	for _, o := range want {
		assert.Same(t, o, byKey[o.Key()], "List returns the object of %s that was written last", o.Key())
		assert.Same(t, o, iterated[o.Key()], "All yields the object of %s that was written last", o.Key())
		got, exists := x.GetByKey(o.Key())
		assert.True(t, exists, "GetByKey finds %s", o.Key())
		assert.Same(t, o, got, "GetByKey returns the object of %s that was written last", o.Key())
		got, exists = x.Get(&Object{Namespace: o.Namespace, Name: o.Name})
		assert.True(t, exists, "Get finds %s", o.Key())
		assert.Same(t, o, got, "Get returns the object of %s that was written last", o.Key())
	}
}

// assertIndexed asserts that every read of an index returns, for each value, the objects with these
// keys, and that there are no other values. It looks at the values in their order.
func assertIndexed(t *testing.T, x Indexer, index string, want map[string][]string) {
	t.Helper()
	values := slices.Sorted(maps.Keys(want))
	for _, value := range values {
		keys := want[value]
		objects, err := x.ByIndex(index, value)
		assert.NoError(t, err)
		assertKeys(t, fmt.Sprintf("ByIndex(%q, %q)", index, value), sorted(keys), names(objects))
		for _, o := range objects {
			stored, _ := x.GetByKey(o.Key())
			assert.Same(t, stored, o, "index %s holds the object of %s that was written last", index, o.Key())
		}
		got, err := x.IndexKeys(index, value)
		assert.NoError(t, err)
		assertKeys(t, fmt.Sprintf("IndexKeys(%q, %q)", index, value), sorted(keys), got)
	}
	assertKeys(t, fmt.Sprintf("ListIndexFuncValues(%q)", index), values, sorted(x.ListIndexFuncValues(index)))
	for _, value := range []string{"no such value", "gone"} {
		found, err := x.ByIndex(index, value)
		assert.NoError(t, err)
		assert.Empty(t, found, "ByIndex of a value that no object has")
	}
}

// assertKeys asserts that a call has returned these keys or values. The message is one line, so
// that a reader sees the difference.
func assertKeys(t *testing.T, call string, want, got []string) {
	t.Helper()
	if slices.Equal(want, got) {
		return
	}
	if len(want)+len(got) > 20 {
		at := 0
		for at < min(len(want), len(got)) && want[at] == got[at] {
			at++
		}
		t.Errorf("%s: want %d keys, got %d; from key %d on, want %q, got %q", call, len(want), len(got), at,
			want[at:min(at+3, len(want))], got[at:min(at+3, len(got))])
		return
	}
	t.Errorf("%s: want %q, got %q", call, want, got)
}

// assertConsistent asserts that all kinds of reads agree and that each index matches its function.
func assertConsistent(t *testing.T, x Indexer) {
	t.Helper()
	assertHolds(t, x, x.List()...)
}

// assertHolds asserts that every kind of read shows the objects, and each index the values that its
// function has for them.
func assertHolds(t *testing.T, x Indexer, objects ...*Object) {
	t.Helper()
	assertContent(t, x, objects...)
	indexers := x.GetIndexers()
	for _, name := range indexers.Names() {
		values := indexers[name]
		want := map[string][]string{}
		for _, o := range objects {
			found, err := values(o)
			require.NoError(t, err)
			found = slices.Sorted(slices.Values(found))
			for _, value := range slices.Compact(found) {
				want[value] = append(want[value], o.Key())
			}
		}
		assertIndexed(t, x, name, want)
	}
}

// assertErrorAs checks that err is a T if the store has types for its errors.
func assertErrorAs[T error](t *testing.T, impl Implementation, err error) (typed T) {
	t.Helper()
	if !impl.has(TypedErrors) {
		assert.False(t, errors.As(err, &typed))
		assert.Error(t, err)
		return typed
	}
	require.True(t, errors.As(err, &typed), "the error is a %T, not a %T", err, typed)
	return typed
}

// inTime fails the test if do has not returned after a time that only a deadlock explains.
func inTime(t *testing.T, otherwise string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		require.Fail(t, otherwise)
	}
}

func pod(namespace, name, node string, labels ...string) *Object {
	return &Object{Namespace: namespace, Name: name, Node: node, Labels: labels, Version: "1"}
}

// series returns objects 0..n-1 of one namespace.
func series(namespace string, n int, version string) []*Object {
	all := []*Object{}
	for i := range n {
		o := pod(namespace, fmt.Sprintf("o%05d", i), "")
		o.Version = version
		all = append(all, o)
	}
	return all
}

// Object is a minimal Kubernetes object.
type Object struct {
	Namespace, Name string
	Node            string   // for an index of one value
	Labels          []string // for an index of several
	Version         string
}

// Key returns "namespace/name", or "name" without a namespace. It accepts nil, so that a store that
// returns nil fails a comparison by key.
func (o *Object) Key() string {
	switch {
	case o == nil:
		return "(nil)"
	case o.Namespace == "":
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

func (o *Object) String() string {
	if o == nil {
		return "(nil)"
	}
	return fmt.Sprintf("%s@%s", o.Key(), o.Version)
}

// ErrNoName is the error of KeyFunc.
var ErrNoName = errors.New("the object has no name")

// KeyFunc is the key function of all stores in the suite.
func KeyFunc(o *Object) (string, error) {
	if o == nil || o.Name == "" {
		return "default/web", ErrNoName // a key that tests store: a store must not use it
	}
	return o.Key(), nil
}

// ByNamespace is an index function with exactly one value.
func ByNamespace(o *Object) ([]string, error) { return []string{o.Namespace}, nil }

// ByNode is an index function with one value or none.
func ByNode(o *Object) ([]string, error) {
	if o.Node == "" {
		return nil, nil
	}
	return []string{o.Node}, nil
}

// ByLabel is an index function with any number of values, possibly repeated.
func ByLabel(o *Object) ([]string, error) { return o.Labels, nil }

// Indexer is a store of Objects.
type Indexer = indexer.Interface[*Object]
