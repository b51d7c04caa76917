package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// steadyNamespace is for the informers' objects and is never deleted.
const steadyNamespace = "chaos-steady"

// Writers change valueLabel; ownerLabel is the UID of the namespace for which the object was
// written.
const (
	valueLabel = "chaos.example.org/value"
	ownerLabel = "chaos.example.org/namespace-uid"
)

// writtenTypes are the types of the written objects, with their kinds.
var writtenTypes = []schema.GroupVersionResource{configMaps, secrets, widgets}

var kinds = map[schema.GroupVersionResource]string{
	configMaps: "ConfigMap", secrets: "Secret", widgets: "Widget",
}

// writers change the cluster at random, each with names of its own, straight at kube-apiserver.
// They ignore errors, because they go on when the server is back.
type writers struct {
	cluster *cluster
	count   atomic.Int64 // writes that succeeded

	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// start starts the writers.
func (w *writers) start() {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	for i, gvr := range writtenTypes {
		w.repeat(ctx, 60*time.Millisecond, func() {
			w.changeObject(ctx, gvr, fmt.Sprintf("object-%d", rand.IntN(15)))
		})
		w.repeat(ctx, 250*time.Millisecond, func() {
			w.changeNamespace(ctx, fmt.Sprintf("chaos-%d-%d", i, rand.IntN(3)))
		})
	}
}

// stop stops the writers, if they run, and waits for them.
func (w *writers) stop() {
	if w.cancel != nil {
		w.cancel()
	}
	w.ended.Wait()
}

// repeat makes changes with random pauses until ctx ends.
func (w *writers) repeat(ctx context.Context, mean time.Duration, change func()) {
	w.ended.Go(func() {
		for ctx.Err() == nil {
			change()
			pause(ctx, rand.N(2*mean))
		}
	})
}

// changeObject creates, changes, deletes or recreates an object in the steady namespace.
func (w *writers) changeObject(ctx context.Context, gvr schema.GroupVersionResource, name string) {
	objects := w.cluster.client.Resource(gvr).Namespace(steadyNamespace)
	what := rand.IntN(8)
	if what < 2 {
		w.written(objects.Delete(ctx, name, metav1.DeleteOptions{}))
	}
	if what == 0 {
		return
	}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"%d"}}}`, valueLabel, rand.IntN(1e9))
	_, err := objects.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		_, err = objects.Create(ctx, newObject(gvr, name, ""), metav1.CreateOptions{})
	}
	w.written(err)
}

// changeNamespace creates, fills or deletes a namespace.
func (w *writers) changeNamespace(ctx context.Context, name string) {
	client := w.cluster.client.Resource(namespaces)
	namespace, err := client.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		namespace, err = client.Create(ctx, newNamespace(name), metav1.CreateOptions{})
		if w.written(err) {
			w.fill(ctx, namespace)
		}
	case err != nil:
	case rand.IntN(3) == 0:
		w.written(client.Delete(ctx, name, metav1.DeleteOptions{}))
	default: // refused while the namespace is being deleted
		w.fill(ctx, namespace)
	}
}

// fill creates some objects in a namespace.
func (w *writers) fill(ctx context.Context, namespace *unstructured.Unstructured) {
	for _, gvr := range writtenTypes {
		object := newObject(gvr, fmt.Sprintf("content-%d", rand.IntN(20)), string(namespace.GetUID()))
		objects := w.cluster.client.Resource(gvr).Namespace(namespace.GetName())
		_, err := objects.Create(ctx, object, metav1.CreateOptions{})
		w.written(err)
	}
}

// written counts a successful write, and reports whether it was one.
func (w *writers) written(err error) bool {
	if err == nil {
		w.count.Add(1)
	}
	return err == nil
}

// newObject returns an object of a written type. owner is the UID of its namespace, or "".
func newObject(gvr schema.GroupVersionResource, name, owner string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: document{
		"apiVersion": strings.TrimPrefix(gvr.Group+"/"+gvr.Version, "/"), "kind": kinds[gvr],
		"metadata": document{"name": name},
	}}
	if owner != "" {
		object.SetLabels(map[string]string{ownerLabel: owner})
	}
	return object
}
