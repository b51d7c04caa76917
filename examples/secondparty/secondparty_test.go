package secondparty_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/secondparty"
	"orrery/nsctl"
	"orrery/nsctl/fast"
	"orrery/nsctl/nsctltest"
	"orrery/restclient"
	"orrery/restclient/api"
)

var forms = map[string]func(nsctl.DeleterConfig) nsctl.Deleter{"textbook": nsctl.NewDeleter, "fast": fast.NewDeleter}

const (
	kubernetes = api.FinalizerKubernetes
	origin     = secondparty.Token
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
	_, complete, err = storage.Holders(ctx, secondparty.Builds)
	assert.False(t, complete)
	assert.Error(t, err, "a file that is no namespace")
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

var errKilled = errors.New("killed")

// life is the number of calls to API server and storage that a process makes before it dies. The
// last call takes effect, and its answer is lost.
type life struct {
	left   int
	cancel context.CancelCauseFunc
}

func (l *life) step() error {
	if l.left--; l.left <= 0 {
		l.cancel(errKilled)
		return errKilled
	}
	return nil
}

// mortalNamespaces and mortalStorage count the calls.
type mortalNamespaces struct {
	nsctl.NamespaceClient
	*life
}

func (m mortalNamespaces) Get(ctx context.Context, name string, opts api.GetOptions) (*api.Namespace, error) {
	namespace, err := m.NamespaceClient.Get(ctx, name, opts)
	return namespace, errors.Join(err, m.step())
}

func (m mortalNamespaces) UpdateSubresource(ctx context.Context, name, subresource string, namespace *api.Namespace,
	opts api.UpdateOptions) (*api.Namespace, error) {
	updated, err := m.NamespaceClient.UpdateSubresource(ctx, name, subresource, namespace, opts)
	return updated, errors.Join(err, m.step())
}

type mortalStorage struct {
	*secondparty.Storage
	*life
}

func (m mortalStorage) List(ctx context.Context, gvr api.GroupVersionResource,
	namespace string) ([]*api.PartialObjectMetadata, error) {
	found, err := m.Storage.List(ctx, gvr, namespace)
	return found, errors.Join(err, m.step())
}

func (m mortalStorage) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource,
	namespace string) ([]*api.PartialObjectMetadata, bool, error) {
	found, listed, err := m.Storage.DeleteCollection(ctx, gvr, namespace)
	err = errors.Join(err, m.step())
	return found, listed && err == nil, err
}

// The second party is killed after each of its calls, and another process takes over. Its token
// never goes before its content.
func TestKilledAfterEveryCall(t *testing.T) {
	for form, newDeleter := range forms {
		t.Run(form, func(t *testing.T) {
			for calls, finished := 1, false; !finished; calls++ {
				synctest.Test(t, func(t *testing.T) { finished = killedAfter(t, newDeleter, calls) })
				require.Less(t, calls, 20, "a pass takes no more calls than that")
			}
		})
	}
}

// killedAfter reports whether the first process has finished before its end.
func killedAfter(t *testing.T, newDeleter func(nsctl.DeleterConfig) nsctl.Deleter, calls int) (finished bool) {
	cluster, directory := nsctltest.NewCluster(), t.TempDir()
	cluster.AddNamespace("development", true, origin, kubernetes)
	storage, err := secondparty.OpenStorage(directory)
	require.NoError(t, err)
	defer storage.Close()
	for _, gvr := range []api.GroupVersionResource{secondparty.Builds, secondparty.ImageStreams} {
		at := filepath.Join(directory, "development", gvr.GroupResource())
		require.NoError(t, os.MkdirAll(at, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(at, "a"), nil, 0o644))
	}
	namespaces := restclient.Typed[*api.Namespace](nsctltest.NewClient(t, cluster), api.NamespacesResource, "")
	check := func() {
		files, err := filepath.Glob(filepath.Join(directory, "development", "*", "*"))
		require.NoError(t, err)
		held := slices.Contains(cluster.Existing(t, "development").Spec.Finalizers, origin)
		assert.True(t, held || len(files) == 0, "after %d calls the token has gone, and %v have not", calls, files)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	mortal := &life{left: calls, cancel: cancel}
	config := secondparty.DeleterConfig(mortalNamespaces{namespaces, mortal}, storage)
	config.Content = mortalStorage{storage, mortal}
	config.Concurrency = 1
	err = newDeleter(config).Delete(ctx, "development", nsctl.ObservedDeletion{})
	check()
	if err == nil {
		return true
	}
	require.ErrorIs(t, err, errKilled)

	next := newDeleter(secondparty.DeleterConfig(namespaces, storage))
	require.NoError(t, next.Delete(t.Context(), "development", nsctl.ObservedDeletion{}))
	check()
	assert.Equal(t, []string{kubernetes}, cluster.Existing(t, "development").Spec.Finalizers)
	return false
}
