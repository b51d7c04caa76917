package indexertest

import (
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

// script is a test as data: writes, separated by semicolons. After each the store must show the
// objects that it holds, and each index the values that its function has for them.
//
//	add a/web@n1+x+y     an object of namespace a on node n1 with two labels; also update
//	delete a/web@other   only the key counts
//	deletekey a/web
//	replace a/web n1     by these objects
type script string

func (s script) run(t *testing.T, impl Implementation) { s.play(t, impl) }

// play returns the store at the end.
func (s script) play(t *testing.T, impl Implementation) Indexer {
	t.Helper()
	x, stored := impl.empty(), map[string]*Object{}
	var played []string
	for step := range strings.SplitSeq(string(s), "; ") {
		verb, rest, _ := strings.Cut(step, " ")
		var given []*Object
		for text := range strings.FieldsSeq(rest) {
			given = append(given, written(text))
		}
		switch verb {
		case "add":
			require.NoError(t, x.Add(given[0]))
		case "update":
			require.NoError(t, x.Update(given[0]))
		case "delete":
			require.NoError(t, x.Delete(given[0]))
		case "deletekey":
			x.DeleteKey(rest)
		case "replace":
			require.NoError(t, x.Replace(given, "1"))
			clear(stored)
		default:
			require.Fail(t, fmt.Sprintf("unknown step %q", step))
		}
		for _, o := range given {
			stored[o.Key()] = o
			if strings.HasPrefix(verb, "delete") {
				delete(stored, o.Key())
			}
		}
		assertHolds(t, x, slices.Collect(maps.Values(stored))...)
		if played = append(played, step); t.Failed() {
			t.Fatalf("after %s", strings.Join(played, "; "))
		}
	}
	return x
}

// written reads "a/web@n1+x+y".
func written(text string) *Object {
	labels := strings.Split(text, "+")
	key, node, _ := strings.Cut(labels[0], "@")
	namespace, name, namespaced := strings.Cut(key, "/")
	if !namespaced {
		namespace, name = "", key
	}
	return pod(namespace, name, node, labels[1:]...)
}

func testEmpty(t *testing.T, impl Implementation) {
	x := impl.empty()
	assertHolds(t, x)
	assert.NotNil(t, x.List())
	_, exists := x.GetByKey("default/web")
	assert.False(t, exists)
	_, exists = x.Get(pod("default", "web", ""))
	assert.False(t, exists)
	assert.NoError(t, x.Resync())
	assertHolds(t, x)
}

// testPut: Put does what Add does, and returns the previous object.
func testPut(t *testing.T, impl Implementation) {
	x := impl.empty()
	first, second, third := pod("default", "web", "n1", "a"), pod("default", "web", "n2", "a", "b"),
		pod("default", "db", "n2")
	put := func(o, wantOld *Object) {
		t.Helper()
		old, existed, err := x.Put(o.Key(), o)
		require.NoError(t, err)
		assert.Equal(t, wantOld != nil, existed, "Put reports whether the key existed")
		assert.Same(t, wantOld, old, "Put returns the object that had the key before")
	}
	put(first, nil)
	put(second, first)
	require.NoError(t, x.Add(third))
	put(third, third)
	assertHolds(t, x, second, third)
	x.DeleteKey("default/web")
	put(first, nil)
	assertHolds(t, x, first, third)
}

func testKeyErrors(t *testing.T, impl Implementation) {
	web := pod("default", "web", "n1", "x")
	x := impl.with(t, web)
	nameless := &Object{Namespace: "default", Node: "n9"}
	for call, err := range map[string]error{
		"Add":     x.Add(nameless),
		"Update":  x.Update(nameless),
		"Delete":  x.Delete(nameless),
		"Replace": x.Replace([]*Object{pod("default", "other", "n9"), nameless, pod("default", "third", "n9")}, "9"),
	} {
		typed := assertErrorAs[*indexer.KeyError](t, impl, err)
		if typed != nil {
			assert.Same(t, nameless, typed.Object, "%s: the error holds the object without a key", call)
			assert.Same(t, ErrNoName, typed.Err, "%s: the error holds the key function's error", call)
			assert.Equal(t, "no key for object of type *indexertest.Object: the object has no name", err.Error())
		}
		assert.ErrorIs(t, err, ErrNoName, "%s: the error wraps the key function's error", call)
		assert.ErrorContains(t, err, ErrNoName.Error(), "%s", call)
	}
	stored, exists := x.Get(nameless)
	assert.False(t, exists, "an object without a key is not in the store")
	assert.Nil(t, stored)
	assertHolds(t, x, web)
}

func testOwnership(t *testing.T, impl Implementation) {
	web, db := pod("default", "web", "n1"), pod("default", "db", "n1")
	items := []*Object{web, db}
	given := indexers()
	x := impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc, Indexers: given})
	delete(given, "label")
	require.NoError(t, x.Replace(items, "1"))
	clear(items)

	byIndex, _ := x.ByIndex("node", "n1")
	related, _ := x.Index("node", web)
	indexKeys, _ := x.IndexKeys("node", "n1")
	clear(x.List())
	clear(byIndex)
	clear(related)
	clear(indexKeys)
	clear(x.ListKeys())
	clear(x.ListIndexFuncValues("node"))
	clear(x.GetIndexers())
	snapshot := x.Snapshot()
	clear(snapshot.Keys)
	clear(snapshot.Indices["node"]["n1"])
	clear(snapshot.Indices["node"])
	assertContent(t, x, web, db)
	assertIndexed(t, x, "node", map[string][]string{"n1": {"default/web", "default/db"}})
	assert.Len(t, x.GetIndexers(), 3, "the maps given to New and returned by GetIndexers are the caller's")
	assert.Equal(t, map[string][]string{"n1": {"default/db", "default/web"}}, x.Snapshot().Indices["node"])
}

// testReadsStay: a read returns the state at its time, whatever is written later.
func testReadsStay(t *testing.T, impl Implementation) {
	const n = 300
	x := impl.empty()
	series := func(version string) []*Object {
		all := series("a", n, version)
		for i, o := range all {
			o.Node, o.Labels = fmt.Sprint("n", i%2), []string{fmt.Sprint("l", i%3)}
		}
		return all
	}
	require.NoError(t, x.Replace(series("1"), "1"))
	next, stop := iter.Pull2(x.All())
	t.Cleanup(stop)
	_, first, _ := next() // the iteration has begun

	read := func() (objects [][]*Object, keys [][]string) {
		byIndex, err := x.ByIndex("node", "n1")
		require.NoError(t, err)
		related, err := x.Index("label", pod("", "asks", "", "l0", "l1"))
		require.NoError(t, err)
		indexKeys, err := x.IndexKeys("node", "n0")
		require.NoError(t, err)
		s := x.Snapshot()
		return [][]*Object{x.List(), byIndex, related},
			[][]string{x.ListKeys(), indexKeys, x.ListIndexFuncValues("label"), s.Keys, s.Indices["node"]["n1"]}
	}
	texts := func(objects [][]*Object, keys [][]string) string { return fmt.Sprint(objects, keys) }
	objects, keys := read()
	before := texts(objects, keys)
	all := names(objects[0])

	inTime(t, "an iteration in progress holds the store's lock, so that a write never ends", func() {
		for i, o := range series("2") { // set, remove, and insert in every chunk of memory
			switch i % 3 {
			case 0:
				assert.NoError(t, x.Update(o))
			case 1:
				assert.NoError(t, x.Delete(o))
			case 2:
				o.Node = "elsewhere"
				assert.NoError(t, x.Update(o))
				assert.NoError(t, x.Add(pod("b", o.Name, "n1", "l0")))
			}
		}
	})
	assert.Equal(t, before, texts(objects, keys), "the result of a read changes with later updates")
	require.NoError(t, x.Replace(series("3"), "3"))
	require.NoError(t, x.Replace(nil, "4"))
	assert.Equal(t, before, texts(objects, keys), "the result of a read changes with a later Replace")

	iterated := []*Object{first}
	for _, o, ok := next(); ok; _, o, ok = next() {
		iterated = append(iterated, o)
	}
	require.Equal(t, all, names(iterated), "an iteration shows the objects from when it began")
	for _, o := range iterated {
		assert.Equal(t, "1", o.Version, "an iteration shows the objects from when it began")
	}
}

func testIteration(t *testing.T, impl Implementation) {
	const n = 500
	x := impl.with(t, series("a", n, "1")...)
	seen := 0
	inTime(t, "All holds the store's lock while the loop runs, so that a write in the loop never ends", func() {
		for key, o := range x.All() {
			seen++
			if !assert.Equal(t, key, o.Key(), "All yields each object with its key") {
				return
			}
			x.DeleteKey(key)
			assert.NoError(t, x.Add(pod("b", o.Name, "n1")))
		}
	})
	assert.Equal(t, n, seen, "the loop sees the objects from when it began")
	for range x.All() {
		break // ending early is fine
	}
	assert.Equal(t, n, x.Len())
	assertIndexed(t, x, "namespace", map[string][]string{"b": x.ListKeys()})
	iteration := x.All()
	require.NoError(t, x.Replace(nil, "2"))
	for i := range 2 {
		for range iteration {
			assert.Fail(t, "an iteration that begins after a Replace shows old objects", "loop %d", i)
		}
	}
}

func testSnapshot(t *testing.T, impl Implementation) {
	x := impl.with(t, pod("b", "web", "n1", "x", "y", "x"), pod("a", "db", "n1", "y"), pod("", "node", ""))
	assert.Equal(t, indexer.Snapshot{
		Keys: []string{"a/db", "b/web", "node"},
		Indices: map[string]map[string][]string{
			"namespace": {"": {"node"}, "a": {"a/db"}, "b": {"b/web"}},
			"node":      {"n1": {"a/db", "b/web"}},
			"label":     {"x": {"b/web"}, "y": {"a/db", "b/web"}},
		},
	}, x.Snapshot(), "a snapshot has sorted keys and indexes")
	require.NoError(t, x.Replace(nil, "2"))
	s := x.Snapshot()
	assert.Empty(t, s.Keys)
	assert.Equal(t, map[string]map[string][]string{"namespace": {}, "node": {}, "label": {}}, s.Indices,
		"a snapshot has empty indexes")
}

// testOldObjectsAreCollected: the store keeps no deleted or replaced object in memory, even if it
// has been listed before.
func testOldObjectsAreCollected(t *testing.T, impl Implementation) {
	x := impl.with(t, series("a", 300, "1")...)
	collected := make(chan string, 10)
	add := func(name, version string) {
		o := pod("a", name, "n1")
		o.Version = version
		runtime.AddCleanup(o, func(what string) { collected <- what }, name+version)
		require.NoError(t, x.Add(o))
	}
	add("updated", "1")
	add("deleted", "1")
	x.List()
	_, _ = x.ByIndex("node", "n1")
	add("updated", "2")
	x.DeleteKey("a/deleted")
	require.NoError(t, x.Add(pod("a", "more", "n1")))

	seen := map[string]bool{}
	for attempt := 0; len(seen) < 2 && attempt < 1000; attempt++ {
		runtime.GC()
		select {
		case what := <-collected:
			seen[what] = true
		case <-time.After(10 * time.Millisecond): // cleanups run in a goroutine of their own
		}
	}
	assert.Equal(t, map[string]bool{"updated1": true, "deleted1": true}, seen, "the store keeps old objects in memory")
	runtime.KeepAlive(x)
}

func testMany(t *testing.T, impl Implementation) {
	const n = 5000
	x := impl.empty()
	objects := series("default", n, "1")
	require.NoError(t, x.Replace(objects[:n/2], "1"))
	for _, o := range objects[n/2:] {
		require.NoError(t, x.Add(o))
	}
	assertContent(t, x, objects...)
	// From the front, from the back, and out of the middle.
	for i := range n / 4 {
		require.NoError(t, x.Delete(objects[i]))
		require.NoError(t, x.Delete(objects[n-1-i]))
	}
	left := []*Object{}
	for i := n / 4; i < n-n/4; i++ {
		if i%3 == 0 {
			x.DeleteKey(objects[i].Key())
		} else {
			left = append(left, objects[i])
		}
	}
	assertHolds(t, x, left...)
}
