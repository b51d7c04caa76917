package indexertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

func testEmpty(t *testing.T, impl Implementation) {
	x := impl.empty()
	assertContent(t, x)
	assert.NotNil(t, x.List())
	_, exists := x.GetByKey("default/web")
	assert.False(t, exists)
	_, exists = x.Get(pod("default", "web", ""))
	assert.False(t, exists)
	for index := range indexers() {
		assertIndexed(t, x, index, nil)
		found, err := x.ByIndex(index, "anything")
		assert.NoError(t, err)
		assert.Empty(t, found)
	}
	assert.Empty(t, x.ResourceVersion())
	assert.NoError(t, x.Resync())
	assertContent(t, x)
}

func testBasics(t *testing.T, impl Implementation) {
	x := impl.empty()
	web, db, node := pod("default", "web", "n1"), pod("default", "db", "n2"), pod("", "n1", "")
	require.NoError(t, x.Add(web))
	require.NoError(t, x.Add(db))
	require.NoError(t, x.Update(node)) // the store decides, not the name of the method
	assertContent(t, x, web, db, node)

	newWeb := pod("default", "web", "n1")
	require.NoError(t, x.Add(newWeb))
	assertContent(t, x, newWeb, db, node)

	require.NoError(t, x.Delete(pod("default", "db", "other")), "the key alone counts")
	require.NoError(t, x.Delete(pod("default", "db", "")), "deleting what is not there is fine")
	assertContent(t, x, newWeb, node)
	_, exists := x.GetByKey("default/db")
	assert.False(t, exists)

	x.DeleteKey("n1")
	x.DeleteKey("n1")
	assertContent(t, x, newWeb)

	require.NoError(t, x.Add(db)) // and back again
	assertContent(t, x, newWeb, db)
	assertIndexed(t, x, "node", map[string][]string{"n1": {"default/web"}, "n2": {"default/db"}})
}

// testPut: what Add does, and what was there before.
func testPut(t *testing.T, impl Implementation) {
	x := impl.empty()
	first, second, third := pod("default", "web", "n1", "a"), pod("default", "web", "n2", "a", "b"), pod("default", "db", "n2")
	second.Version = "2"

	old, existed, err := x.Put("default/web", first)
	require.NoError(t, err)
	assert.False(t, existed)
	assert.Nil(t, old)

	old, existed, err = x.Put("default/web", second)
	require.NoError(t, err)
	assert.True(t, existed)
	assert.Same(t, first, old)
	assert.Equal(t, "2", x.ResourceVersion())

	require.NoError(t, x.Add(third))
	old, existed, err = x.Put("default/db", third)
	require.NoError(t, err)
	assert.True(t, existed, "whoever put it there")
	assert.Same(t, third, old)

	assertContent(t, x, second, third)
	assertIndexed(t, x, "node", map[string][]string{"n2": {"default/web", "default/db"}})
	assertIndexed(t, x, "label", map[string][]string{"a": {"default/web"}, "b": {"default/web"}})

	x.DeleteKey("default/web")
	old, existed, err = x.Put("default/web", first)
	require.NoError(t, err)
	assert.False(t, existed)
	assert.Nil(t, old)
	assertContent(t, x, first, third)
}

func testKeyErrors(t *testing.T, impl Implementation) {
	web := pod("default", "web", "n1")
	x := impl.with(t, web)
	nameless := &Object{Namespace: "default", Version: "9"}
	for _, err := range []error{
		x.Add(nameless),
		x.Update(nameless),
		x.Delete(nameless),
		x.Replace([]*Object{pod("default", "other", ""), nameless}, "9"),
	} {
		typed := assertErrorAs[*indexer.KeyError](t, impl, err)
		if typed != nil {
			assert.Same(t, nameless, typed.Object)
			assert.Contains(t, typed.Error(), ErrNoName.Error())
		}
		assert.ErrorIs(t, err, ErrNoName)
	}
	_, exists := x.Get(nameless)
	assert.False(t, exists)
	assertContent(t, x, web)
	assert.Equal(t, "1", x.ResourceVersion())
}

func testReplace(t *testing.T, impl Implementation) {
	x := impl.with(t, pod("a", "web", "n1", "x"), pod("b", "db", "n2", "y"))
	kept, added := pod("b", "db", "n3", "z"), pod("c", "new", "n1")
	require.NoError(t, x.Replace([]*Object{kept, added}, "100"))
	assertContent(t, x, kept, added)
	assertIndexed(t, x, "namespace", map[string][]string{"b": {"b/db"}, "c": {"c/new"}})
	assertIndexed(t, x, "node", map[string][]string{"n3": {"b/db"}, "n1": {"c/new"}})
	assertIndexed(t, x, "label", map[string][]string{"z": {"b/db"}})

	first, last := pod("d", "twice", "n1"), pod("d", "twice", "n2")
	require.NoError(t, x.Replace([]*Object{first, last}, "101"))
	assertContent(t, x, last)
	assertIndexed(t, x, "node", map[string][]string{"n2": {"d/twice"}})

	require.NoError(t, x.Update(pod("d", "twice", "n7")))
	assertIndexed(t, x, "node", map[string][]string{"n7": {"d/twice"}})

	require.NoError(t, x.Replace(nil, "102"))
	assertContent(t, x)
	for index := range indexers() {
		assertIndexed(t, x, index, nil)
	}
	require.NoError(t, x.Add(first))
	assertContent(t, x, first)
}

func testOwnership(t *testing.T, impl Implementation) {
	web, db := pod("default", "web", "n1"), pod("default", "db", "n1")
	items := []*Object{web, db}
	x := impl.empty()
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
	assertContent(t, x, web, db)
	assertIndexed(t, x, "node", map[string][]string{"n1": {"default/web", "default/db"}})
}

func testResourceVersion(t *testing.T, impl Implementation) {
	x := impl.empty()
	at := func(version string) *Object {
		o := pod("default", "web", "n1")
		o.Version = version
		return o
	}
	require.NoError(t, x.Add(at("5")))
	assert.Equal(t, "5", x.ResourceVersion())
	require.NoError(t, x.Update(at("7")))
	assert.Equal(t, "7", x.ResourceVersion())
	x.Bookmark("11")
	assert.Equal(t, "11", x.ResourceVersion())
	require.NoError(t, x.Delete(at("12")))
	assert.Equal(t, "12", x.ResourceVersion(), "the object of a DELETED event carries the version of the deletion")
	x.DeleteKey("default/web")
	assert.Equal(t, "12", x.ResourceVersion(), "a key has no version")
	require.NoError(t, x.Replace([]*Object{at("3")}, "20"))
	assert.Equal(t, "20", x.ResourceVersion(), "of the list, not of its items")
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
	assertContent(t, x, left...)
	assertIndexed(t, x, "namespace", map[string][]string{"default": names(left)})
}
