package secondparty_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/secondparty"
	"orrery/informer"
	"orrery/internal/lab/clustertest"
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

// long is longer than any pause between two passes.
const long = 2 * time.Minute

// world is the in-memory API server, the storage of the second party, and both controllers.
type world struct {
	t          *testing.T
	client     *restclient.Client
	namespaces *restclient.Resource[*api.Namespace]
	directory  string
	storage    *secondparty.Storage
	informer   *informer.SharedIndexInformer[*api.Namespace]

	mu     sync.Mutex
	states []string // phase and spec.finalizers of "development", one for each change
	end    string   // the same in the response to the request that removed it
}

// witness records the server's answers to the deleters.
type witness struct {
	nsctl.NamespaceClient
	*world
}

// UpdateSubresource keeps the last state, which no watch shows: the request removes the object.
func (w witness) UpdateSubresource(ctx context.Context, name, subresource string, namespace *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error) {
	updated, err := w.NamespaceClient.UpdateSubresource(ctx, name, subresource, namespace, opts)
	if err == nil && len(updated.Spec.Finalizers) == 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.end = state(updated)
	}
	return updated, err
}

func state(namespace *api.Namespace) string {
	return fmt.Sprint(namespace.Status.Phase, " ", namespace.Spec.Finalizers)
}

// inWorld runs a test in a bubble, with each form of the deleter.
func inWorld(t *testing.T, story func(w *world)) {
	for form, newDeleter := range forms {
		t.Run(form, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { story(newWorld(t, newDeleter)) })
		})
	}
}

func newWorld(t *testing.T, newDeleter func(nsctl.DeleterConfig) nsctl.Deleter) *world {
	w := &world{t: t, client: clustertest.Start(t, clustertest.Bare, nil).Admin(), directory: t.TempDir()}
	w.namespaces = restclient.Typed[*api.Namespace](w.client, api.NamespacesResource, "")
	var err error
	w.storage, err = secondparty.OpenStorage(w.directory)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.storage.Close()) })

	w.informer = informer.NewSharedIndexInformer(w.namespaces, informer.Config[*api.Namespace]{Name: "namespaces"})
	_, err = w.informer.AddEventHandler(informer.ResourceEventHandlerFuncs[*api.Namespace]{
		AddFunc:    func(namespace *api.Namespace, _ bool) { w.note(namespace) },
		UpdateFunc: func(_, namespace *api.Namespace) { w.note(namespace) },
	})
	require.NoError(t, err)
	var informers, controllers sync.WaitGroup
	seen := witness{w.namespaces, w}
	informing, endInforming := context.WithCancel(t.Context())
	working, endWorking := context.WithCancel(t.Context())
	for name, config := range map[string]nsctl.DeleterConfig{
		"namespace": {Namespaces: seen, Content: nsctl.NewContentClient(w.client), Discovery: nsctltest.NewDiscovery(w.client)},
		"origin":    secondparty.DeleterConfig(seen, w.storage),
	} {
		controller, err := nsctl.NewController(nsctl.Config{Name: name, Informer: w.informer, Deleter: newDeleter(config)})
		require.NoError(t, err)
		controllers.Go(func() { controller.Run(working) })
	}
	informers.Go(func() { _ = w.informer.Run(informing) })
	t.Cleanup(func() { endWorking(); controllers.Wait(); endInforming(); informers.Wait() })
	synctest.Wait() // the informer watches
	return w
}

// note records the state of the namespace if it has changed.
func (w *world) note(namespace *api.Namespace) {
	if namespace.Name != "development" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.states = append(w.states, state(namespace))
	w.states = slices.Compact(w.states)
}

// requireStates asserts the states so far; end is "" while the namespace exists.
func (w *world) requireStates(end string, states ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Equal(w.t, states, w.states)
	require.Equal(w.t, end, w.end)
}

func (w *world) create(name string, tokens ...string) {
	w.t.Helper()
	namespace := &api.Namespace{TypeMeta: api.TypeMeta{Kind: "Namespace", APIVersion: "v1"}}
	namespace.Name, namespace.Spec.Finalizers = name, tokens
	_, err := w.namespaces.Create(w.t.Context(), namespace, api.UpdateOptions{})
	require.NoError(w.t, err)
}

func (w *world) delete(name string) {
	w.t.Helper()
	synctest.Wait() // the informer has seen it before
	require.NoError(w.t, w.namespaces.Delete(w.t.Context(), name, api.DeleteOptions{}))
}

var configMaps = api.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// fill creates content of each party in the namespace. A ConfigMap with a finalizer blocks the
// first party.
func (w *world) fill(namespace string, finalizers ...any) {
	w.t.Helper()
	object := &api.Unstructured{Object: map[string]any{
		"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "a", "finalizers": finalizers},
	}}
	_, err := restclient.Dynamic(w.client, configMaps, namespace).Create(w.t.Context(), object, api.UpdateOptions{})
	require.NoError(w.t, err)
	for _, gvr := range []api.GroupVersionResource{secondparty.Builds, secondparty.ImageStreams} {
		require.NoError(w.t, secondparty.Create(w.t.Context(), w.namespaces, w.storage, gvr, namespace, "a"))
	}
}

// release removes the ConfigMap's finalizer.
func (w *world) release(namespace string) {
	w.t.Helper()
	_, err := restclient.Metadata(w.client, configMaps, namespace).Patch(w.t.Context(), "a", api.MergePatchType,
		[]byte(`{"metadata":{"finalizers":null}}`), api.UpdateOptions{})
	require.NoError(w.t, err)
}

// left returns how many objects each party has in the namespace, whether or not the namespace
// exists.
func (w *world) left(namespace string) (first, second int) {
	w.t.Helper()
	all, err := restclient.Metadata(w.client, configMaps, "").List(w.t.Context(), api.ListOptions{})
	require.NoError(w.t, err)
	for _, object := range all.Items {
		if object.Namespace == namespace {
			first++
		}
	}
	files, err := filepath.Glob(filepath.Join(w.directory, namespace, "*", "*"))
	require.NoError(w.t, err)
	return first, len(files)
}

func (w *world) requireLeft(namespace string, first, second int) {
	w.t.Helper()
	ours, theirs := w.left(namespace)
	require.Equal(w.t, []int{first, second}, []int{ours, theirs}, "what is left of the two parties' content in %s", namespace)
}

// breakStorage makes the second party fail until repair is called: a file is in the place of its
// collection.
func (w *world) breakStorage(namespace string) (repair func()) {
	w.t.Helper()
	where := filepath.Join(w.directory, namespace, secondparty.Builds.GroupResource())
	require.NoError(w.t, os.Rename(where, where+".aside"))
	require.NoError(w.t, os.WriteFile(where, nil, 0o644))
	return func() {
		require.NoError(w.t, os.Remove(where))
		require.NoError(w.t, os.Rename(where+".aside", where))
	}
}

// The states of the design document. One party cannot finish: the storage of the second has failed,
// or an object of the first has a finalizer.
func TestEitherPartyFinishesFirst(t *testing.T) {
	both := []string{"Active [openshift.com/origin kubernetes]", "Terminating [openshift.com/origin kubernetes]"}
	for name, c := range map[string]struct {
		fill          func(w *world) (repair func())
		half          string // the state when one party has finished
		first, second int    // what is left of the content then
	}{
		"the first": {func(w *world) func() {
			w.fill("development")
			return w.breakStorage("development")
		}, "Terminating [openshift.com/origin]", 0, 1},
		"the second": {func(w *world) func() {
			w.fill("development", "example.com/hold")
			return func() { w.release("development") }
		}, "Terminating [kubernetes]", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.create("development", origin)
				w.create("bystander", origin)
				w.fill("bystander")
				repair := c.fill(w)
				w.delete("development")
				time.Sleep(long)
				w.requireStates("", append(both, c.half)...)
				w.requireLeft("development", c.first, c.second)

				repair()
				time.Sleep(long)
				w.requireStates("Terminating []", append(both, c.half)...)
				w.requireLeft("development", 0, 0)
				w.requireLeft("bystander", 1, 2)
			})
		})
	}
}

// Emptying spec.finalizers by hand removes the namespace and leaves the content of both parties.
// The content reappears in the next namespace of that name.
func TestFinalizersThatAreEmptiedByHandLeaveTheContentOfBothBehind(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("development", origin)
		w.fill("development", "example.com/hold")
		repair := w.breakStorage("development")
		w.delete("development")
		time.Sleep(long)
		namespace, err := w.namespaces.Get(w.t.Context(), "development", api.GetOptions{})
		require.NoError(w.t, err)
		require.Equal(w.t, []string{origin, kubernetes}, namespace.Spec.Finalizers)

		namespace.Spec.Finalizers = nil
		_, err = w.namespaces.UpdateSubresource(w.t.Context(), "development", "finalize", namespace, api.UpdateOptions{})
		require.NoError(w.t, err)
		_, err = w.namespaces.Get(w.t.Context(), "development", api.GetOptions{})
		require.True(w.t, api.IsNotFound(err))
		repair()
		time.Sleep(long)
		w.requireLeft("development", 1, 1)

		w.create("development", origin)
		inNew, err := restclient.Metadata(w.client, configMaps, "development").List(w.t.Context(), api.ListOptions{})
		require.NoError(w.t, err)
		require.Len(w.t, inNew.Items, 1, "the content is back")
		builds, err := w.storage.List(w.t.Context(), secondparty.Builds, "development")
		require.NoError(w.t, err)
		require.Len(w.t, builds, 1, "and so is the second party's")
	})
}

func TestContentNeedsANamespaceWithTheToken(t *testing.T) {
	inWorld(t, func(w *world) {
		create := func(namespace, name string) error {
			return secondparty.Create(w.t.Context(), w.namespaces, w.storage, secondparty.Builds, namespace, name)
		}
		w.create("without")
		assert.ErrorIs(t, create("without", "a"), secondparty.ErrNotHeld)
		assert.True(t, api.IsNotFound(create("missing", "a")))
		w.create("development", origin)
		w.delete("development")
		assert.ErrorIs(t, create("development", "a"), secondparty.ErrTerminating)
		w.create("outside", origin)
		assert.Error(t, create("outside", "../../../escaped"), "a name that leaves the storage")
		for _, namespace := range []string{"without", "missing", "development"} {
			w.requireLeft(namespace, 0, 0)
		}
	})
}

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

func (m mortalNamespaces) UpdateSubresource(ctx context.Context, name, subresource string, namespace *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error) {
	updated, err := m.NamespaceClient.UpdateSubresource(ctx, name, subresource, namespace, opts)
	return updated, errors.Join(err, m.step())
}

type mortalStorage struct {
	*secondparty.Storage
	*life
}

func (m mortalStorage) List(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, error) {
	found, err := m.Storage.List(ctx, gvr, namespace)
	return found, errors.Join(err, m.step())
}

func (m mortalStorage) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, bool, error) {
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
