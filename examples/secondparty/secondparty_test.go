package secondparty_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/secondparty"
	"orrery/nsctl"
	"orrery/restclient/api"
)

func TestTheStorage(t *testing.T) {
	ctx, directory := t.Context(), t.TempDir()
	storage, err := secondparty.OpenStorage(directory)
	require.NoError(t, err)
	found, listed, err := storage.DeleteCollection(ctx, secondparty.Builds, "empty")
	require.NoError(t, err)
	assert.True(t, listed)
	assert.Empty(t, found)
	pods, err := storage.ListPods(ctx, "empty")
	require.NoError(t, err)
	assert.Empty(t, pods)
	storage.Invalidate()
	lists, err := storage.PreferredNamespacedResources(ctx, time.Now())
	require.NoError(t, err)
	resources, err := nsctl.DeletableResources(lists)
	require.NoError(t, err)
	assert.Len(t, resources, 2)

	put := func(namespace, name string) {
		t.Helper()
		at := filepath.Join(directory, namespace, secondparty.Builds.GroupResource())
		require.NoError(t, os.MkdirAll(at, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(at, name), nil, 0o644))
	}
	put("a", "one")
	put("a", "two")
	put("b", "one")
	escaped := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Name: "../../../" + filepath.Base(directory)}}
	assert.Error(t, storage.Delete(ctx, secondparty.Builds, "a", escaped), "a name that leaves the storage")
	holders, complete, err := storage.Holders(ctx, secondparty.Builds)
	require.NoError(t, err)
	assert.True(t, complete)
	assert.Equal(t, map[string]bool{"a": true, "b": true}, holders)
	one := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Name: "one"}}
	require.NoError(t, storage.Delete(ctx, secondparty.Builds, "a", one))
	require.NoError(t, storage.Delete(ctx, secondparty.Builds, "a", one), "again")
	found, listed, err = storage.DeleteCollection(ctx, secondparty.Builds, "a")
	require.NoError(t, err)
	assert.True(t, listed)
	require.Len(t, found, 1)
	assert.Equal(t, "two", found[0].Name)
	holders, _, err = storage.Holders(ctx, secondparty.Builds)
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"b": true}, holders)

	require.NoError(t, os.WriteFile(filepath.Join(directory, "file"), nil, 0o644))
	put("last", "one")
	_, complete, err = storage.Holders(ctx, secondparty.Builds)
	assert.False(t, complete)
	assert.Error(t, err, "a file that is no namespace, before one that can be read")
	_, listed, err = storage.DeleteCollection(ctx, secondparty.Builds, "file")
	assert.Error(t, err)
	assert.False(t, listed, "it is not known what the collection holds")
	require.NoError(t, storage.Close())
	for _, name := range []string{"file", "mistyped"} {
		_, err = secondparty.OpenStorage(filepath.Join(directory, name))
		assert.Error(t, err, "an empty storage would release every namespace")
	}
	assert.NoDirExists(t, filepath.Join(directory, "mistyped"))
}
