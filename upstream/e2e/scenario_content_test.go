package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// A thousand objects of two built-in types and of a type defined after the controller's start.
func TestFullNamespace(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		widgets := tr.createCustomType("full.example.com", "widgets", "Widget")
		tr.createNamespace("full")
		tr.parallelize(500, func(i int) error {
			name := fmt.Sprintf("object-%03d", i)
			return errors.Join(tr.tryConfigMap("full", name), tr.trySecret("full", name))
		})
		for i := range 20 {
			tr.createCustom(widgets, "Widget", "full", fmt.Sprintf("widget-%02d", i))
		}
		tr.deleteNamespace("full")
		tr.awaitGone("full")
	})
}

// A hundred namespaces are deleted at once, ten times as many as there are workers.
func TestHundredNamespaces(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		name := func(i int) string { return fmt.Sprintf("hundred-%02d", i) }
		tr.parallelize(100, func(i int) error {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name(i), Labels: map[string]string{"scenario": "hundred"}}}
			_, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, namespace, metav1.CreateOptions{})
			return errors.Join(err, tr.tryConfigMap(name(i), "content"))
		})
		tr.parallelize(100, func(i int) error {
			return tr.client.CoreV1().Namespaces().Delete(tr.ctx, name(i), metav1.DeleteOptions{})
		})

		tr.eventually("all hundred namespaces are gone", func() (bool, error) {
			left, err := tr.client.CoreV1().Namespaces().List(tr.ctx, metav1.ListOptions{LabelSelector: "scenario=hundred"})
			return err == nil && len(left.Items) == 0, err
		})
		everywhere := tr.namespacesWithContent()
		for i := range 100 {
			require.NotContains(tr.t, everywhere, name(i), "the namespace left objects behind")
		}
		tr.state.note("namespaces that are gone and have left nothing behind", "100")
	})
}

// A namespace is recreated as soon as the server allows it, while the controller still works on the
// old one's end. The new namespace and its content stay.
func TestRecreatedNamespace(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		old := tr.createNamespace("again")
		tr.createConfigMap("again", "held", holdingFinalizer)
		tr.deleteNamespace("again")
		tr.awaitCondition("again", corev1.NamespaceFinalizersRemaining)
		_, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "again"}}, metav1.CreateOptions{})
		tr.state.note("creating it again while it is being deleted", string(apierrors.ReasonForError(err)))

		tr.free(configMaps, "again", "held")
		tr.eventually("the namespace can be created again", func() (bool, error) {
			_, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "again"}}, metav1.CreateOptions{})
			return err == nil, err
		})
		tr.eventually("content is let into the new one", func() (bool, error) {
			// The server decides by its own watch, which may lag behind.
			err := tr.tryConfigMap("again", "new")
			return err == nil, err
		})
		// The controllers that fill new namespaces may have been refused, and do not retry on their
		// own.
		tr.wake("again")
		tr.awaitDefaults("again")

		// Another namespace comes and goes. Work still planned for the old one is done before that.
		tr.createNamespace("again-later")
		tr.deleteNamespace("again-later")
		tr.awaitGone("again-later")
		require.NotEqual(tr.t, old, tr.namespace("again").UID)
		tr.noteNamespace("the new one", "again")
	})
}

// namespacesWithContent returns the names of all namespaces with any content.
func (tr *trial) namespacesWithContent() sets.Set[string] {
	tr.t.Helper()
	names := sets.New[string]()
	for _, resource := range tr.namespacedResources() {
		for _, item := range tr.list(resource, metav1.NamespaceAll) {
			names.Insert(item.GetNamespace())
		}
	}
	return names
}
