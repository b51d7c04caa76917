package e2e

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
	"orrery/upstream/controlplane"
)

const garbageCollector = "garbage-collector-controller"

// startWithoutCollector starts a genuine control plane with every controller but the garbage
// collector, and ours instead.
func startWithoutCollector(t *testing.T) *controlplane.ControlPlane {
	server, err := controlplane.Start(t.Context(), controlplane.Config{
		FakeNodes:           2,
		NamespaceController: true,
		Controllers:         []string{"*", "-" + garbageCollector},
		Log:                 t.Output(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	// The cluster does not show whether kube-controller-manager's own collector is off.
	runControllers(t, server, "collector", garbageCollector, "--allow-second-controller")
	return server
}

// TestOfficialGarbageSpecs runs Kubernetes' own specs for the garbage collector against the
// example's.
func TestOfficialGarbageSpecs(t *testing.T) {
	t.Parallel()
	server := startWithoutCollector(t)
	var report bytes.Buffer
	err := RunOfficialSpecs(t.Context(), server.Kubeconfig(), &report, "--of=garbage")
	if err != nil {
		t.Log(report.String())
	}
	require.NoError(t, err)
}

// An owner is deleted in each way. Its dependent goes with it or loses its owner.
func TestOwnersAreDeletedInEachWay(t *testing.T) {
	t.Parallel()
	server := startWithoutCollector(t)
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: server.Kubeconfig()})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	objects := restclient.Dynamic(client, api.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "default")
	create := func(name string, owners ...any) *api.Unstructured {
		o := &api.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "ownerReferences": owners},
		}}
		created, err := objects.Create(t.Context(), o, api.UpdateOptions{})
		require.NoError(t, err)
		return created
	}
	gone := func(name string) (bool, error) {
		_, err := objects.Get(t.Context(), name, api.GetOptions{})
		if api.IsNotFound(err) {
			return true, nil
		}
		return false, err
	}
	for policy, orphaned := range map[api.DeletePropagation]bool{
		api.DeletePropagationBackground: false, api.DeletePropagationForeground: false, api.DeletePropagationOrphan: true,
	} {
		t.Run(string(policy), func(t *testing.T) {
			name := "owner-" + strings.ToLower(string(policy))
			owner := create(name)
			create(name+"-child", map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner.GetUID(), "blockOwnerDeletion": true,
			})
			require.NoError(t, objects.Delete(t.Context(), name, api.DeleteOptions{PropagationPolicy: policy}))
			eventually(t, "the owner is gone", server.Failed(), func() (bool, error) { return gone(name) })
			if !orphaned {
				eventually(t, "its dependent is gone", server.Failed(), func() (bool, error) { return gone(name + "-child") })
				return
			}
			child, err := objects.Get(context.Background(), name+"-child", api.GetOptions{})
			require.NoError(t, err)
			require.Empty(t, child.Nested("metadata", "ownerReferences"))
		})
	}
}
