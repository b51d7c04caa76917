package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/restclient/api"
	"orrery/upstream/e2e"
)

var (
	configMaps = api.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	widgets    = api.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}
)

// valueLabel is the label that the writers change.
const valueLabel = "value"

// writers change objects at random through client-go, and retry forever.
type writers struct {
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	writes  atomic.Int64 // that succeeded
}

func newWriters(t *testing.T, cp e2e.Server) *writers {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", cp.Kubeconfig())
	require.NoError(t, err)
	config.QPS, config.Burst = 1000, 1000
	w := &writers{}
	w.typed, err = kubernetes.NewForConfig(config)
	require.NoError(t, err)
	w.dynamic, err = dynamic.NewForConfig(config)
	require.NoError(t, err)
	w.defineWidgets(t, cp)
	return w
}

// defineWidgets adds a custom type.
func (w *writers) defineWidgets(t *testing.T, cp e2e.Server) {
	t.Helper()
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.org"},
		"spec": map[string]any{
			"group": "example.org", "scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	}}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	_, err := w.dynamic.Resource(definitions).Create(t.Context(), definition, metav1.CreateOptions{})
	require.NoError(t, err)
	await(t, cp, "widgets are served", func() error {
		_, err := w.dynamic.Resource(upstreamGVR(widgets)).List(t.Context(), metav1.ListOptions{})
		return err
	})
}

// fill creates more objects of each kind than fit on a page.
func (w *writers) fill() {
	for i := range 12 {
		for _, kind := range []string{"namespace", "configmap", "widget"} {
			_ = w.change(context.Background(), kind, fmt.Sprintf("it-%d", i), "before")
		}
	}
}

// start runs one writer for each kind. stop ends them.
func (w *writers) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var writing sync.WaitGroup
	for _, kind := range []string{"namespace", "configmap", "widget"} {
		writing.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if w.change(ctx, kind, fmt.Sprintf("it-%d", rand.IntN(12)), strconv.Itoa(i)) == nil {
					w.writes.Add(1)
				}
				time.Sleep(10 * time.Millisecond) // leaves time for the other processes
			}
		})
	}
	return func() {
		cancel()
		writing.Wait()
	}
}

// awaitWrites blocks until a write succeeds again.
func (w *writers) awaitWrites(t *testing.T, cp e2e.Server) {
	t.Helper()
	before := w.writes.Load()
	await(t, cp, "the writers get through", func() error {
		if now := w.writes.Load(); now < before+20 {
			return fmt.Errorf("%d writes", now-before)
		}
		return nil
	})
}

// change creates, updates or deletes the object.
func (w *writers) change(ctx context.Context, kind, name, value string) error {
	if rand.IntN(4) == 0 {
		return w.remove(ctx, kind, name)
	}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, valueLabel, value)
	labels := map[string]string{valueLabel: value}
	var err error
	switch kind {
	case "namespace":
		namespaces := w.typed.CoreV1().Namespaces()
		if _, err = namespaces.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			_, err = namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
		}
	case "configmap":
		maps := w.typed.CoreV1().ConfigMaps("default")
		if _, err = maps.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"k": value}}, metav1.CreateOptions{})
		}
	case "widget":
		resource := w.dynamic.Resource(upstreamGVR(widgets)).Namespace("default")
		if _, err = resource.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			widget := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.org/v1", "kind": "Widget",
				"metadata": map[string]any{"name": name, "labels": map[string]any{valueLabel: value}},
				"spec":     map[string]any{"size": int64(len(value)), "weight": 0.5, "parts": []any{"a", nil, true}},
			}}
			_, err = resource.Create(ctx, widget, metav1.CreateOptions{})
		}
	}
	return err
}

// remove deletes an object. It finalizes namespaces itself: no controller does that here.
func (w *writers) remove(ctx context.Context, kind, name string) error {
	switch kind {
	case "configmap":
		return w.typed.CoreV1().ConfigMaps("default").Delete(ctx, name, metav1.DeleteOptions{})
	case "widget":
		return w.dynamic.Resource(upstreamGVR(widgets)).Namespace("default").Delete(ctx, name, metav1.DeleteOptions{})
	}
	namespaces := w.typed.CoreV1().Namespaces()
	if err := namespaces.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	namespace, err := namespaces.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	namespace.Spec.Finalizers = nil
	_, err = namespaces.Finalize(ctx, namespace, metav1.UpdateOptions{})
	return err
}

// list returns the server's objects, by a consistent read through client-go.
func (w *writers) list(t *testing.T, gvr api.GroupVersionResource) map[string]document {
	t.Helper()
	list, err := w.dynamic.Resource(upstreamGVR(gvr)).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	found := map[string]document{}
	for i := range list.Items {
		item := &list.Items[i]
		key := item.GetName()
		if namespace := item.GetNamespace(); namespace != "" {
			key = namespace + "/" + key
		}
		found[key], err = documentOf(item.Object)
		require.NoError(t, err)
	}
	return found
}

func upstreamGVR(gvr api.GroupVersionResource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource}
}
