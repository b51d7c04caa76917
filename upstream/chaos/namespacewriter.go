package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// namespaceWriter creates, fills and deletes namespaces, and recreates them under the same names. A
// finalizer holds some of the content for a while.
type namespaceWriter struct {
	writers *writers
	names   []string
}

func newNamespaceWriter(w *writers, number int) *namespaceWriter {
	n := &namespaceWriter{writers: w}
	for i := range namespacesEach {
		n.names = append(n.names, fmt.Sprintf("chaos-%d-%d", number, i))
	}
	return n
}

func (n *namespaceWriter) write(ctx context.Context, dice *rand.Rand) time.Duration {
	rest := time.Duration(dice.Int64N(int64(2 * namespacePause)))
	name := n.names[dice.IntN(len(n.names))]
	client := n.writers.cluster.client
	namespace, err := client.Resource(namespaces).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		namespace, err = client.Resource(namespaces).Create(ctx, &unstructured.Unstructured{Object: document{
			"apiVersion": "v1", "kind": "Namespace", "metadata": document{"name": name},
		}}, metav1.CreateOptions{})
		if n.writers.record(err) {
			for range dice.IntN(12) {
				n.put(ctx, dice, namespace)
			}
		}
	case err != nil:
	case namespace.GetDeletionTimestamp() != nil:
		if dice.IntN(3) == 0 {
			n.put(ctx, dice, namespace) // will be refused
		} else if dice.IntN(3) == 0 {
			n.writers.record(n.writers.cluster.letGo(ctx, name))
		}
	case dice.IntN(3) == 0:
		n.writers.record(client.Resource(namespaces).Delete(ctx, name, metav1.DeleteOptions{}))
	default:
		n.put(ctx, dice, namespace)
		_, err = client.Resource(namespaces).Patch(ctx, name, types.MergePatchType, patchOfValue(dice), metav1.PatchOptions{})
		n.writers.record(err)
	}
	return rest
}

// put creates an object in a namespace.
func (n *namespaceWriter) put(ctx context.Context, dice *rand.Rand, namespace *unstructured.Unstructured) {
	gvr := []schema.GroupVersionResource{configMaps, configMaps, secrets, pods, widgets, gears}[dice.IntN(6)]
	var finalizers []string
	if dice.IntN(12) == 0 && gvr != gears { // a held gear would hold up the deletion of its type
		finalizers = []string{holdFinalizer}
	}
	object := newObject(gvr, fmt.Sprintf("content-%d", dice.IntN(20)), string(namespace.GetUID()), finalizers)
	_, err := n.writers.cluster.client.Resource(gvr).Namespace(namespace.GetName()).Create(ctx, object, metav1.CreateOptions{})
	n.writers.record(err)
}

// letGo removes the finalizers that hold objects of a namespace.
func (c *cluster) letGo(ctx context.Context, namespace string) error {
	for _, gvr := range contentTypes {
		list, err := c.client.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return err
		}
		for i := range list.Items {
			item := &list.Items[i]
			if len(item.GetFinalizers()) == 0 {
				continue
			}
			_, err := c.client.Resource(gvr).Namespace(namespace).Patch(ctx, item.GetName(), types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			if ignore(err, apierrors.IsNotFound) != nil {
				return err
			}
		}
	}
	return nil
}
