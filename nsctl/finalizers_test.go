package nsctl_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/nsctl"
	"orrery/nsctl/nsctltest"
	"orrery/restclient"
	"orrery/restclient/api"
)

var configMapsResource = api.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// names returns the names of all ConfigMaps, whether or not their namespaces exist.
func configMapNames(t *testing.T, client *restclient.Client) (names []string) {
	t.Helper()
	all, err := restclient.Metadata(client, configMapsResource, "").List(t.Context(), api.ListOptions{})
	require.NoError(t, err)
	for _, configMap := range all.Items {
		names = append(names, configMap.Name)
	}
	return names
}

// The common advice for a namespace that hangs: PUT an empty list of finalizers. The namespace is
// removed at once. Its content stays in storage and reappears in the next namespace of that name.
func TestFinalizersThatAreEmptiedByHandLeaveContentBehind(t *testing.T) {
	for form, newDeleter := range forms {
		t.Run(form, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, s.Stop(context.Background())) })
				client := nsctltest.NewClient(t, s.Handler())
				namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
				hung := &api.Namespace{TypeMeta: api.TypeMeta{Kind: "Namespace", APIVersion: "v1"}}
				hung.Name = "hung"
				_, err = namespaces.Create(t.Context(), hung, api.UpdateOptions{})
				require.NoError(t, err)
				configMaps := restclient.Dynamic(client, configMapsResource, "hung")
				for name, finalizers := range map[string][]any{"precious": nil, "held": {"example.com/hold"}} {
					metadata := map[string]any{"name": name, "finalizers": finalizers}
					object := map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}
					_, err := configMaps.Create(t.Context(), &api.Unstructured{Object: object}, api.UpdateOptions{})
					require.NoError(t, err)
				}
				require.NoError(t, namespaces.Delete(t.Context(), "hung", api.DeleteOptions{}))
				deleter := nsctltest.NewDeleter(t, s.Handler(), newDeleter)
				var remaining *nsctl.ResourcesRemainingError
				require.ErrorAs(t, deleter.Delete(t.Context(), "hung"), &remaining)
				require.Equal(t, []string{"held"}, configMapNames(t, client), "the controller waits for the finalizer")

				namespace, err := namespaces.Get(t.Context(), "hung", api.GetOptions{})
				require.NoError(t, err)
				namespace.Spec.Finalizers = nil
				_, err = namespaces.UpdateSubresource(t.Context(), "hung", "finalize", namespace, api.UpdateOptions{})
				require.NoError(t, err)
				_, err = namespaces.Get(t.Context(), "hung", api.GetOptions{})
				assert.True(t, api.IsNotFound(err), "the namespace goes with the request")
				require.NoError(t, deleter.Delete(t.Context(), "hung"), "the controller is done")
				assert.Equal(t, []string{"held"}, configMapNames(t, client), "the content has not gone")

				_, err = namespaces.Create(t.Context(), hung, api.UpdateOptions{})
				require.NoError(t, err)
				back, err := configMaps.Get(t.Context(), "held", api.GetOptions{})
				require.NoError(t, err, "the content is back")
				assert.NotNil(t, back.GetDeletionTimestamp(), "and is still waiting for its finalizer")
			})
		})
	}
}
