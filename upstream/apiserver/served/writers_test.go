package served_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
)

// Every object has a label with its value, and one that says whether the value is even, so that
// objects enter and leave a selector.
const (
	valueLabel = "value"
	evenLabel  = "even"
	evenOnes   = evenLabel + "=yes"
)

// writers change objects at random. Conflicts are ignored.
type writers struct {
	clients *clients
	dice    []*rand.Rand // one for each writer

	mu      sync.Mutex     // guards the fields below
	written int            // successful writes
	kinds   map[string]int // the same, by kind of write
}

func newWriters(clients *clients, seed uint64) *writers {
	w := &writers{clients: clients, kinds: map[string]int{}}
	for i := range writersAtOnce {
		w.dice = append(w.dice, rand.New(rand.NewPCG(seed, uint64(i)+100)))
	}
	return w
}

// writeUntil runs all writers until the total of successful writes is reached.
func (w *writers) writeUntil(ctx context.Context, atOnce, target int) error {
	var writing sync.WaitGroup
	errs := make([]error, atOnce)
	for i := range atOnce {
		writing.Go(func() {
			for w.count() < target && errs[i] == nil {
				errs[i] = w.writeOnce(ctx, w.dice[i])
			}
		})
	}
	writing.Wait()
	return errors.Join(errs...)
}

func (w *writers) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written
}

// await blocks until so many writes have succeeded.
func (w *writers) await(ctx context.Context, count int) error {
	deadline := time.After(waitTimeout)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for w.count() < count {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("%d of %d writes", w.count(), count)
		}
	}
	return nil
}

func (w *writers) summary() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(w.kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, w.kinds[kind]))
	}
	return strings.Join(parts, ", ")
}

// writeOnce makes one random write.
func (w *writers) writeOnce(ctx context.Context, dice *rand.Rand) error {
	resource := []schema.GroupVersionResource{configMaps, configMaps, secrets, pods, deployments, widgets, widgets, namespaces}[dice.IntN(8)]
	client, name := w.clients.dynamic.Resource(resource).Namespace(""), fmt.Sprintf("it-%d", dice.IntN(15))
	if resource != namespaces {
		client = w.clients.dynamic.Resource(resource).Namespace([]string{"default", "kube-public", "kube-system"}[dice.IntN(3)])
	}
	kind, err := w.change(ctx, dice, resource, client, name)
	switch {
	case err == nil:
		w.mu.Lock()
		w.written++
		w.kinds[kind]++
		w.mu.Unlock()
	case apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err), apierrors.IsConflict(err):
		// another writer was faster
	default:
		return fmt.Errorf("%s of %s %s: %w", kind, resource.Resource, name, err)
	}
	return nil
}

func (w *writers) change(ctx context.Context, dice *rand.Rand, resource schema.GroupVersionResource, client dynamic.ResourceInterface, name string) (kind string, err error) {
	value := dice.IntN(1000)
	switch n := dice.IntN(100); {
	case n < 30:
		_, err = client.Create(ctx, newObject(resource, name, value), metav1.CreateOptions{})
		return "create", err
	case n < 50:
		return "update", w.update(ctx, client, name, value)
	case n < 80:
		return w.patch(ctx, resource, client, name, value, n%3)
	case n < 82 && resource != namespaces:
		// The deleted objects are not counted.
		return "deletecollection", client.DeleteCollection(ctx, immediately, metav1.ListOptions{LabelSelector: fmt.Sprintf("%s=%s", valueLabel, text(value))})
	default:
		return "delete", w.remove(ctx, resource, client, name)
	}
}

var immediately = metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}

func (w *writers) update(ctx context.Context, client dynamic.ResourceInterface, name string, value int) error {
	object, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, labelsOf(value))
	object.SetLabels(labels)
	object.SetAnnotations(map[string]string{"updated": strings.Repeat("x", value)})
	_, err = client.Update(ctx, object, metav1.UpdateOptions{})
	return err
}

func (w *writers) patch(ctx context.Context, resource schema.GroupVersionResource, client dynamic.ResourceInterface, name string, value, kind int) (string, error) {
	labels := labelsOf(value)
	merge := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q,%q:%q},"annotations":{"updated":null}}}`,
		valueLabel, labels[valueLabel], evenLabel, labels[evenLabel])
	var err error
	switch {
	case kind == 0:
		operations := fmt.Appendf(nil, `[{"op":"add","path":"/metadata/labels","value":{%q:%q,%q:%q}}]`,
			valueLabel, labels[valueLabel], evenLabel, labels[evenLabel])
		_, err = client.Patch(ctx, name, types.JSONPatchType, operations, metav1.PatchOptions{})
		return "JSON patch", err
	case kind == 1 && resource != widgets:
		_, err = client.Patch(ctx, name, types.StrategicMergePatchType, merge, metav1.PatchOptions{})
		return "strategic merge patch", err
	case resource == widgets || resource == deployments:
		status := fmt.Appendf(nil, `{"status":{"observedGeneration":%d}}`, value)
		_, err = client.Patch(ctx, name, types.MergePatchType, status, metav1.PatchOptions{}, "status")
		return "patch of the status", err
	default:
		_, err = client.Patch(ctx, name, types.MergePatchType, merge, metav1.PatchOptions{})
		return "merge patch", err
	}
}

// remove deletes an object. It finalizes namespaces itself: no controller does that here.
func (w *writers) remove(ctx context.Context, resource schema.GroupVersionResource, client dynamic.ResourceInterface, name string) error {
	if err := client.Delete(ctx, name, immediately); err != nil || resource != namespaces {
		return err
	}
	namespace := newObject(namespaces, name, 0)
	namespace.Object["spec"] = map[string]any{}
	_, err := client.Update(ctx, namespace, metav1.UpdateOptions{}, "finalize")
	return err
}

func text(value int) string { return fmt.Sprintf("v%d", value) }

func labelsOf(value int) map[string]string {
	even := "no"
	if value%2 == 0 {
		even = "yes"
	}
	return map[string]string{valueLabel: text(value), evenLabel: even}
}

// newObject returns an object of a type with some content.
func newObject(resource schema.GroupVersionResource, name string, value int) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	container := map[string]any{"name": "main", "image": "example.com/pretended"}
	switch resource {
	case namespaces:
		object.SetKind("Namespace")
	case configMaps:
		object.SetKind("ConfigMap")
		object.Object["data"] = map[string]any{"value": text(value), "much": strings.Repeat("much ", value)}
	case secrets:
		object.SetKind("Secret")
		object.Object["stringData"] = map[string]any{"value": text(value)}
	case pods:
		object.SetKind("Pod")
		object.Object["spec"] = map[string]any{"containers": []any{container}, "terminationGracePeriodSeconds": int64(0)}
	case deployments:
		object.SetKind("Deployment")
		selected := map[string]any{"app": name}
		object.Object["spec"] = map[string]any{
			"replicas": int64(value), "selector": map[string]any{"matchLabels": selected},
			"template": map[string]any{"metadata": map[string]any{"labels": selected}, "spec": map[string]any{"containers": []any{container}}},
		}
	case widgets:
		object.SetKind("Widget")
		object.Object["spec"] = map[string]any{"size": int64(value), "weight": 0.5, "parts": []any{"a", nil, true}}
	}
	object.SetAPIVersion(resource.GroupVersion().String())
	object.SetName(name)
	object.SetLabels(labelsOf(value))
	return object
}
