package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"orrery/upstream/controlplane"
)

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// Two APIServices have no backend, so the content of their groups is unknown and the namespace must
// not be finalized. The content of the other groups goes. Without the APIServices the namespace
// goes.
func TestUnavailableAPIService(t *testing.T) {
	t.Parallel()
	tryEach(t, onOwnCluster, func(tr *trial) {
		tr.createNamespace("partial")
		tr.createConfigMap("partial", "content")
		tr.createSecret("partial", "content")
		tr.createNowhereAPIService("nowhere.example.com")
		tr.createNowhereAPIService("elsewhere.example.com")

		tr.deleteNamespace("partial")
		tr.awaitCondition("partial", corev1.NamespaceDeletionDiscoveryFailure)
		tr.noteNamespace("while groups cannot be discovered", "partial")

		for _, name := range []string{"v1.nowhere.example.com", "v1.elsewhere.example.com"} {
			require.NoError(tr.t, tr.dynamic.Resource(apiServices).Delete(tr.ctx, name, metav1.DeleteOptions{}))
		}
		tr.awaitGone("partial")
	})
}

// createNowhereAPIService registers a group with a service that does not exist, and waits until its
// discovery fails.
func (tr *trial) createNowhereAPIService(group string) {
	tr.t.Helper()
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1",
		"kind":       "APIService",
		"metadata":   map[string]any{"name": "v1." + group},
		"spec": map[string]any{
			"group": group, "version": "v1", "groupPriorityMinimum": int64(1000), "versionPriority": int64(10),
			"insecureSkipTLSVerify": true,
			"service":               map[string]any{"namespace": "default", "name": "nowhere"},
		},
	}}
	_, err := tr.dynamic.Resource(apiServices).Create(tr.ctx, service, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	tr.awaitUndiscovered(schema.GroupVersion{Group: group, Version: "v1"})
}

// awaitUndiscovered blocks until discovery fails for a group version.
func (tr *trial) awaitUndiscovered(version schema.GroupVersion) {
	tr.t.Helper()
	tr.eventually("discovery fails for "+version.String(), func() (bool, error) {
		_, err := tr.client.Discovery().ServerPreferredNamespacedResources()
		if failed, ok := discovery.GroupDiscoveryFailedErrorGroups(err); ok {
			_, ok := failed[version]
			return ok, nil
		}
		return false, err
	})
}

// The controller has no rights on one type. The conditions say so and the other types go. The rest
// goes when the rights are granted.
func TestMissingRights(t *testing.T) {
	t.Parallel()
	tryEach(t, onOwnCluster, func(tr *trial) {
		tr.createNamespace("unseen")
		tr.createConfigMap("unseen", "content")
		tr.createSecret("unseen", "content")
		grant := tr.hinder.withholdRights(tr, schema.GroupResource{Resource: "secrets"})

		tr.deleteNamespace("unseen")
		tr.awaitCondition("unseen", corev1.NamespaceDeletionContentFailure)
		tr.noteNamespace("while rights are missing", "unseen")
		grant()
		tr.awaitGone("unseen")
	})
}

// The controller has no rights on pods, so it must not delete what pods rely on.
func TestMissingRightsForPods(t *testing.T) {
	t.Parallel()
	tryEach(t, onClusterWith(controlplane.Config{FakeNodes: 1}), func(tr *trial) {
		tr.createPodNamespace("unseen-pods")
		tr.runPod("unseen-pods", "running", "0s", 30)
		grant := tr.hinder.withholdRights(tr, schema.GroupResource{Resource: "pods"})
		left := tr.watchDepartures("unseen-pods", pods, networkPolicies)

		tr.deleteNamespace("unseen-pods")
		tr.awaitCondition("unseen-pods", corev1.NamespaceDeletionContentFailure)
		tr.noteNamespace("while rights are missing", "unseen-pods")
		grant()
		tr.awaitGone("unseen-pods")
		tr.noteOrder(left, "pods/running", "networkpolicies/isolation")
	})
}
