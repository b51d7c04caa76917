package nsctl_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/internal/lab/apiserver"
	"orrery/nsctl"
	"orrery/nsctl/nsctltest"
	"orrery/restclient"
	"orrery/restclient/api"
)

// server is the in-memory API server, without a namespace controller, with the actions of a user.
type server struct {
	t          *testing.T
	client     *restclient.Client
	namespaces *restclient.Resource[*api.Namespace]
}

var configMapsResource = api.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func newServer(t *testing.T) *server {
	s, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop(context.Background())) })
	client := nsctltest.NewClient(t, s.Handler())
	return &server{t: t, client: client, namespaces: restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")}
}

func (s *server) configMaps(namespace string) *restclient.Resource[*api.PartialObjectMetadata] {
	return restclient.Metadata(s.client, configMapsResource, namespace)
}

// create creates a namespace with further tokens beside "kubernetes", and ConfigMaps in it.
func (s *server) create(name string, tokens []string, configMaps ...string) {
	s.t.Helper()
	namespace := &api.Namespace{TypeMeta: api.TypeMeta{Kind: "Namespace", APIVersion: "v1"}}
	namespace.Name, namespace.Spec.Finalizers = name, tokens
	_, err := s.namespaces.Create(s.t.Context(), namespace, api.UpdateOptions{})
	require.NoError(s.t, err)
	for _, configMap := range configMaps {
		s.createConfigMap(name, configMap)
	}
}

func (s *server) createConfigMap(namespace, name string, finalizers ...string) {
	s.t.Helper()
	object := &api.Unstructured{Object: map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": name}}}
	for _, finalizer := range finalizers {
		object.Object["metadata"].(map[string]any)["finalizers"] = []any{finalizer}
	}
	_, err := restclient.Dynamic(s.client, configMapsResource, namespace).Create(s.t.Context(), object, api.UpdateOptions{})
	require.NoError(s.t, err)
}

func (s *server) delete(name string) {
	s.t.Helper()
	require.NoError(s.t, s.namespaces.Delete(s.t.Context(), name, api.DeleteOptions{}))
}

// tokens returns the tokens in spec.finalizers, and whether the namespace exists.
func (s *server) tokens(name string) (tokens []string, exists bool) {
	s.t.Helper()
	namespace, err := s.namespaces.Get(s.t.Context(), name, api.GetOptions{})
	if api.IsNotFound(err) {
		return nil, false
	}
	require.NoError(s.t, err)
	return namespace.Spec.Finalizers, true
}

// left returns the ConfigMaps stored under the namespace's name, whether or not the namespace
// exists.
func (s *server) left(namespace string) (names []string) {
	s.t.Helper()
	all, err := s.configMaps("").List(s.t.Context(), api.ListOptions{})
	require.NoError(s.t, err)
	for _, configMap := range all.Items {
		if configMap.Namespace == namespace {
			names = append(names, configMap.Name)
		}
	}
	return names
}

// party returns a deleter with its own token.
func (s *server) party(form func(nsctl.DeleterConfig) nsctl.Deleter, token string) nsctltest.DeleterUnderTest {
	return nsctltest.DeleterUnderTest{Deleter: form(nsctl.DeleterConfig{
		Namespaces: s.namespaces, Content: nsctl.NewContentClient(s.client), Discovery: nsctltest.NewDiscovery(s.client), FinalizerToken: token,
	})}
}

// The common advice for a namespace that hangs: PUT an empty list of finalizers. The namespace is
// removed at once. Its content stays in storage and reappears in the next namespace of that name.
func TestFinalizersThatAreEmptiedByHandLeaveContentBehind(t *testing.T) {
	for form, newDeleter := range forms {
		t.Run(form, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				s.create("hung", nil, "precious")
				s.createConfigMap("hung", "held", "example.com/hold")
				s.delete("hung")
				deleter := s.party(newDeleter, "")
				var remaining *nsctl.ResourcesRemainingError
				require.ErrorAs(t, deleter.Delete(t.Context(), "hung"), &remaining)
				require.Equal(t, []string{"held"}, s.left("hung"), "the controller waits for the finalizer")

				namespace, err := s.namespaces.Get(t.Context(), "hung", api.GetOptions{})
				require.NoError(t, err)
				namespace.Spec.Finalizers = nil
				_, err = s.namespaces.UpdateSubresource(t.Context(), "hung", "finalize", namespace, api.UpdateOptions{})
				require.NoError(t, err)
				_, exists := s.tokens("hung")
				assert.False(t, exists, "the namespace goes with the request")
				assert.Equal(t, []string{"held"}, s.left("hung"), "its content does not")
				require.NoError(t, deleter.Delete(t.Context(), "hung"), "the controller is done")
				assert.Equal(t, []string{"held"}, s.left("hung"))

				s.create("hung", nil)
				inNew, err := s.configMaps("hung").List(t.Context(), api.ListOptions{})
				require.NoError(t, err)
				require.Len(t, inNew.Items, 1, "the content is back")
				assert.NotNil(t, inNew.Items[0].DeletionTimestamp, "and is still waiting for its finalizer")
			})
		})
	}
}

// backups is a controller in the finalizer pattern: each ConfigMap gets its token, and is backed
// up before it is removed.
type backups struct {
	t          *testing.T
	configMaps *restclient.Resource[*api.PartialObjectMetadata]

	mu       sync.Mutex
	reported []string
}

const backupToken = "example.com/backup"

func (b *backups) tell(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reported = append(b.reported, what)
}

func (b *backups) handler() informer.ResourceEventHandler[*api.PartialObjectMetadata] {
	return informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc: func(configMap *api.PartialObjectMetadata, _ bool) {
			b.tell("add: token on")
			b.setFinalizers(configMap, `["`+backupToken+`"]`)
		},
		UpdateFunc: func(_, configMap *api.PartialObjectMetadata) {
			if configMap.DeletionTimestamp == nil || !slices.Contains(configMap.Finalizers, backupToken) {
				return
			}
			b.tell("update with a deletion timestamp: clean up, token off")
			b.setFinalizers(configMap, `[]`)
		},
		DeleteFunc: func(informer.DeletedObject[*api.PartialObjectMetadata]) { b.tell("delete: gone") },
	}
}

func (b *backups) setFinalizers(configMap *api.PartialObjectMetadata, finalizers string) {
	_, err := b.configMaps.InNamespace(configMap.Namespace).Patch(b.t.Context(), configMap.Name, api.MergePatchType,
		[]byte(`{"metadata":{"finalizers":`+finalizers+`}}`), api.UpdateOptions{})
	assert.NoError(b.t, err)
}

// The finalizer pattern: the owner of a token sees a deletion as an update with a deletion
// timestamp. It cleans up and removes its token; then the object is removed. The namespace waits
// for that.
func TestTheFinalizerPattern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.create("team", nil)
		b := &backups{t: t, configMaps: s.configMaps("")}
		shared := informer.NewSharedIndexInformer(s.configMaps(""), informer.Config[*api.PartialObjectMetadata]{Name: "configmaps"})
		_, err := shared.AddEventHandler(b.handler())
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = shared.Run(ctx) })
		time.Sleep(time.Second)
		s.createConfigMap("team", "a")
		time.Sleep(time.Second)
		stored, err := s.configMaps("team").Get(t.Context(), "a", api.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{backupToken}, stored.Finalizers)

		s.delete("team")
		deleter := s.party(nsctl.NewDeleter, "")
		for range 10 { // passes, until the owner has done its part
			if err = deleter.Delete(t.Context(), "team"); err == nil {
				break
			}
			var remaining *nsctl.ResourcesRemainingError
			require.ErrorAs(t, err, &remaining, "the namespace waits")
			time.Sleep(remaining.RequeueAfter())
		}
		require.NoError(t, err)
		_, exists := s.tokens("team")
		assert.False(t, exists)
		assert.Empty(t, s.left("team"))
		time.Sleep(time.Second)
		b.mu.Lock()
		assert.Equal(t, []string{"add: token on", "update with a deletion timestamp: clean up, token off", "delete: gone"}, b.reported)
		b.mu.Unlock()
		cancel()
		running.Wait()
	})
}
