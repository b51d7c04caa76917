package served_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
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

	mu      sync.Mutex // guards written
	written int        // successful writes
}

func newWriters(clients *clients, seed uint64) *writers {
	w := &writers{clients: clients}
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

// start runs all writers until stop is called. Errors are ignored, because they go on when the
// server is back.
func (w *writers) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var writing sync.WaitGroup
	for _, dice := range w.dice {
		writing.Go(func() {
			for ctx.Err() == nil {
				if w.writeOnce(ctx, dice) == nil {
					continue
				}
				select { // a server that is away refuses at once
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
	}
	return func() {
		cancel()
		writing.Wait()
	}
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

// writeOnce makes one random write.
func (w *writers) writeOnce(ctx context.Context, dice *rand.Rand) error {
	resource := []schema.GroupVersionResource{configMaps, configMaps, secrets, pods, deployments, widgets, widgets,
		namespaces}[dice.IntN(8)]
	client, name := w.clients.dynamic.Resource(resource).Namespace(""), fmt.Sprintf("it-%d", dice.IntN(15))
	if resource != namespaces {
		client = w.clients.dynamic.Resource(resource).Namespace([]string{"default", "kube-public",
			"kube-system"}[dice.IntN(3)])
	}
	value := dice.IntN(1000)
	var err error
	switch n := dice.IntN(10); {
	case n < 4:
		_, err = client.Create(ctx, newObject(resource, name, value), metav1.CreateOptions{})
	case n < 8:
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q,%q:%q}}}`,
			valueLabel, text(value), evenLabel, labelsOf(value)[evenLabel])
		_, err = client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	default:
		err = w.remove(ctx, resource, client, name)
	}
	switch {
	case err == nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.written++
	case apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err), apierrors.IsConflict(err):
		// another writer was faster
	default:
		return fmt.Errorf("%s %s: %w", resource.Resource, name, err)
	}
	return nil
}

// remove deletes an object. It finalizes namespaces itself: no controller does that here.
func (w *writers) remove(ctx context.Context, resource schema.GroupVersionResource, client dynamic.ResourceInterface,
	name string) error {
	immediately := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
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

// contents are the objects of each type, with a value in them.
var contents = map[schema.GroupVersionResource]string{
	namespaces: `{"kind":"Namespace","metadata":{"annotations":{"value":"%d"}}}`,
	configMaps: `{"kind":"ConfigMap","data":{"value":"v%[1]d","much":"%0999[1]d"}}`,
	secrets:    `{"kind":"Secret","stringData":{"value":"v%d"}}`,
	pods: `{"kind":"Pod","spec":{"terminationGracePeriodSeconds":0,
		"containers":[{"name":"main","image":"example.com/pretended:%d"}]}}`,
	deployments: `{"kind":"Deployment","spec":{"replicas":%d,"selector":{"matchLabels":{"app":"a"}},
		"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"main","image":"a"}]}}}}`,
	widgets: `{"kind":"Widget","spec":{"size":%d,"weight":0.5,"parts":["a",null,true]}}`,
}

// newObject returns an object of a type with some content.
func newObject(resource schema.GroupVersionResource, name string, value int) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(fmt.Appendf(nil, contents[resource], value), &object.Object); err != nil {
		panic(err) // a mistake in the table
	}
	object.SetAPIVersion(resource.GroupVersion().String())
	object.SetName(name)
	object.SetLabels(labelsOf(value))
	return object
}
