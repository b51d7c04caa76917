package informer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
	"orrery/informer"
	"orrery/restclient/api"
)

// shelf returns a store of heads "namespace/name" with a label.
func shelf(t *testing.T, indexers indexer.Indexers[head]) informer.Indexer[head] {
	store := indexer.New(indexer.Config[head]{KeyFunc: informer.MetaNamespaceKeyFunc[head], Indexers: indexers})
	for key, app := range map[string]string{"red/a": "web", "red/b": "api", "blue/a": "web", "root": "web"} {
		obj := &api.PartialObjectMetadata{}
		obj.Namespace, obj.Name, _ = informer.SplitMetaNamespaceKey(key)
		obj.Labels = map[string]string{"app": app}
		require.NoError(t, store.Add(obj))
	}
	return store
}

func keysOf(objects []head) []string {
	keys := []string{}
	for _, obj := range objects {
		keys = append(keys, keyOf(obj))
	}
	return keys
}

func TestLister(t *testing.T) {
	for name, indexers := range map[string]indexer.Indexers[head]{
		"with the index":    {informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[head]},
		"without the index": nil,
	} {
		t.Run(name, func(t *testing.T) {
			l := informer.NewLister(shelf(t, indexers), "pods")
			assert.ElementsMatch(t, []string{"red/a", "red/b", "blue/a", "root"}, keysOf(l.List()))
			assert.ElementsMatch(t, []string{"red/b"}, keysOf(l.ListFunc(func(obj head) bool { return obj.Labels["app"] == "api" })))
			assert.ElementsMatch(t, []string{"red/a", "red/b"}, keysOf(l.ByNamespace("red").List()))
			assert.ElementsMatch(t, []string{"root"}, keysOf(l.ByNamespace("").List()))
			assert.Empty(t, l.ByNamespace("green").List())
		})
	}
}

func TestListerGet(t *testing.T) {
	l := informer.NewLister(shelf(t, nil), "pods")
	obj, err := l.Get("root")
	require.NoError(t, err)
	assert.Equal(t, "root", obj.Name)
	obj, err = l.ByNamespace("blue").Get("a")
	require.NoError(t, err)
	assert.Equal(t, "blue", obj.Namespace)
	obj, err = l.ByNamespace("").Get("root")
	require.NoError(t, err)
	assert.Equal(t, "root", obj.Name)

	for _, get := range []func() (head, error){
		func() (head, error) { return l.Get("a") },
		func() (head, error) { return l.ByNamespace("blue").Get("b") },
	} {
		obj, err = get()
		assert.Nil(t, obj)
		assert.True(t, api.IsNotFound(err))
	}
	assert.Equal(t, `pods "b" not found`, err.Error())
}
