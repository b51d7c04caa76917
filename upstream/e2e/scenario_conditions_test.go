package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	pods       = corev1.SchemeGroupVersion.WithResource("pods")
)

// An object with a finalizer stays until its owner removes the finalizer; everything else goes at
// once. The conditions name the finalizer.
func TestFinalizerOfContent(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		widgets := tr.createCustomType("finalizer.example.com", "widgets", "Widget")
		tr.createNamespace("finalizer")
		tr.createConfigMap("finalizer", "free")
		tr.createConfigMap("finalizer", "held-1", holdingFinalizer)
		tr.createConfigMap("finalizer", "held-2", holdingFinalizer)
		tr.createCustom(widgets, "Widget", "finalizer", "held-3", holdingFinalizer, "example.com/another")
		tr.createSecret("finalizer", "free")

		tr.deleteNamespace("finalizer")
		tr.awaitCondition("finalizer", corev1.NamespaceFinalizersRemaining)
		tr.noteNamespace("while finalizers remain", "finalizer")

		tr.free(configMaps, "finalizer", "held-1")
		tr.free(configMaps, "finalizer", "held-2")
		tr.awaitMessage("finalizer", corev1.NamespaceContentRemaining,
			"Some resources are remaining: widgets.finalizer.example.com has 1 resource instances")
		tr.noteNamespace("when some have been taken off", "finalizer")

		tr.free(widgets, "finalizer", "held-3")
		tr.awaitGone("finalizer")
	})
}

// A finalizer in the namespace's metadata: the namespace is emptied and finalized, and the object
// stays until the finalizer is removed.
func TestFinalizerOfNamespace(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createNamespace("metadata")
		tr.createConfigMap("metadata", "content")
		tr.patchNamespace("metadata", `{"metadata":{"finalizers":["`+holdingFinalizer+`"]}}`)
		tr.deleteNamespace("metadata")
		tr.eventually("the namespace is finalized", func() (bool, error) {
			namespace, err := tr.client.CoreV1().Namespaces().Get(tr.ctx, "metadata", metav1.GetOptions{})
			return err == nil && len(namespace.Spec.Finalizers) == 0, err
		})
		tr.noteNamespace("when the controller is done", "metadata")
		tr.patchNamespace("metadata", `{"metadata":{"finalizers":null}}`)
		tr.awaitGone("metadata")
	})
}

// A policy denies the deletion of one object. The conditions quote it and the other types go. The
// rest goes when the policy is lifted.
func TestPolicyDeniesDeletion(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createNamespace("denied")
		tr.createConfigMap("denied", "ordinary")
		tr.createConfigMap("denied", "precious")
		tr.createSecret("denied", "secret")
		allow := tr.hinder.forbidDeletion(tr, configMaps, "denied", "precious")

		tr.deleteNamespace("denied")
		tr.awaitCondition("denied", corev1.NamespaceDeletionContentFailure)
		tr.noteNamespace("while it is denied", "denied")
		allow()
		tr.awaitGone("denied")
	})
}

// A required admission webhook does not answer: no object of the type can be deleted.
func TestWebhookIsDown(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createNamespace("webhook")
		tr.createConfigMap("webhook", "content")
		tr.createSecret("webhook", "content")
		lift := tr.hinder.unreachableWebhook(tr, configMaps, "webhook")

		tr.deleteNamespace("webhook")
		tr.awaitCondition("webhook", corev1.NamespaceDeletionContentFailure)
		tr.noteNamespace("while the webhook is down", "webhook")
		lift()
		tr.awaitGone("webhook")
	})
}

// A custom type is removed while a namespace with objects of it is being deleted.
func TestTypeIsRemoved(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		widgets := tr.createCustomType("removed.example.com", "widgets", "Widget")
		tr.createNamespace("type-removed")
		tr.createConfigMap("type-removed", "content")
		tr.createCustom(widgets, "Widget", "type-removed", "held", holdingFinalizer)

		tr.deleteNamespace("type-removed")
		tr.awaitCondition("type-removed", corev1.NamespaceFinalizersRemaining)
		tr.noteNamespace("while an object is held", "type-removed")
		require.NoError(tr.t, tr.dynamic.Resource(crdResource).Delete(tr.ctx, "widgets.removed.example.com", metav1.DeleteOptions{}))
		tr.free(widgets, "type-removed", "held")
		tr.awaitGone("type-removed")
	})
}

// wake changes a namespace so that controllers process it again. The namespace may be gone.
func (tr *trial) wake(name string) {
	tr.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"e2e.orrery/woken":%q}}}`, time.Now().Format(time.RFC3339Nano))
	if err := tr.tryPatchNamespace(name, patch); !apierrors.IsNotFound(err) {
		require.NoError(tr.t, err)
	}
}

func (tr *trial) patchNamespace(name, patch string) {
	tr.t.Helper()
	require.NoError(tr.t, tr.tryPatchNamespace(name, patch))
}

func (tr *trial) tryPatchNamespace(name, patch string) error {
	_, err := tr.client.CoreV1().Namespaces().Patch(tr.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}
