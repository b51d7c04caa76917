package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"orrery/internal/lab/bench/workloads"
)

// Dispatch returns client-go's shared informer as the subject of package workloads.
func Dispatch() workloads.DispatchSubject { return dispatch{} }

type dispatch struct{}

func (dispatch) Name() string { return "client-go" }

func (dispatch) Merges() bool { return false }

func (dispatch) New(kind workloads.Kind) workloads.DispatchInformer {
	if kind == workloads.Pods {
		return newDispatched[corev1.Pod](&corev1.PodList{})
	}
	return newDispatched[metav1.PartialObjectMetadata](&metav1.PartialObjectMetadataList{})
}

// pointer is a *O that is an object of the API.
type pointer[O any] interface {
	*O
	metav1.Object
	runtime.Object
}

// dispatched is an informer of *O with a channel for a watch.
type dispatched[O any, T pointer[O]] struct {
	empty    runtime.Object // list of these objects
	informer cache.SharedIndexInformer
	listed   []runtime.Object
	events   chan watch.Event

	registrations []cache.ResourceEventHandlerRegistration
	cancel        context.CancelFunc
	running       sync.WaitGroup
}

func newDispatched[O any, T pointer[O]](empty runtime.Object) *dispatched[O, T] {
	d := &dispatched[O, T]{empty: empty}
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	d.informer = cache.NewSharedIndexInformer(dispatchListWatch[O, T]{d}, T(new(O)), 0, indexers)
	return d
}

func (d *dispatched[O, T]) Decode(document []byte) (workloads.State, error) {
	obj := T(new(O))
	return obj, json.Unmarshal(document, obj)
}

func (d *dispatched[O, T]) As(state workloads.State, version string) workloads.State {
	copied := *state.(T)
	T(&copied).SetResourceVersion(version)
	return T(&copied)
}

func (d *dispatched[O, T]) AddHandler(h workloads.Handler) error {
	r, err := d.informer.AddEventHandler(dispatchHandler[O, T]{h})
	if err == nil {
		d.registrations = append(d.registrations, r)
	}
	return err
}

func (d *dispatched[O, T]) Start(listed []workloads.State, buffer int) error {
	for _, state := range listed {
		d.listed = append(d.listed, state.(T))
	}
	d.events = make(chan watch.Event, buffer)
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	d.running.Go(func() { d.informer.RunWithContext(ctx) })
	synced := []cache.InformerSynced{d.informer.HasSynced}
	for _, r := range d.registrations {
		synced = append(synced, r.HasSynced)
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return errors.New("the informer has not synced")
	}
	return nil
}

func (d *dispatched[O, T]) Send(state workloads.State) {
	d.events <- watch.Event{Type: watch.Modified, Object: state.(T)}
}

func (d *dispatched[O, T]) Versions() map[string]string {
	objects := d.informer.GetStore().List()
	out := make(map[string]string, len(objects))
	for _, obj := range objects {
		key, _ := cache.MetaNamespaceKeyFunc(obj) // the informer's own key function
		out[key] = obj.(T).GetResourceVersion()
	}
	return out
}

func (d *dispatched[O, T]) Stop() {
	d.cancel()
	d.running.Wait()
}

// dispatchListWatch is the ListerWatcher of a dispatched.
type dispatchListWatch[O any, T pointer[O]] struct{ *dispatched[O, T] }

// IsWatchListSemanticsUnSupported reports that there are no streaming lists, for whose bookmark the
// informer would wait.
func (f dispatchListWatch[O, T]) IsWatchListSemanticsUnSupported() bool { return true }

func (f dispatchListWatch[O, T]) List(metav1.ListOptions) (runtime.Object, error) {
	list := f.empty.DeepCopyObject()
	list.(metav1.ListInterface).SetResourceVersion("1")
	return list, meta.SetList(list, f.listed)
}

func (f dispatchListWatch[O, T]) Watch(metav1.ListOptions) (watch.Interface, error) {
	return dispatchWatch(f.events), nil
}

// dispatchWatch delivers the driver's events.
type dispatchWatch chan watch.Event

func (w dispatchWatch) ResultChan() <-chan watch.Event { return w }

func (w dispatchWatch) Stop() {}

// dispatchHandler translates callbacks.
type dispatchHandler[O any, T pointer[O]] struct{ handler workloads.Handler }

func dispatchIdentity(obj metav1.Object) workloads.Identity {
	return workloads.Identity{Namespace: obj.GetNamespace(), Name: obj.GetName(),
		ResourceVersion: obj.GetResourceVersion()}
}

func (h dispatchHandler[O, T]) OnAdd(obj any, _ bool) { h.handler.OnAdd(dispatchIdentity(obj.(T))) }

func (h dispatchHandler[O, T]) OnUpdate(old, obj any) {
	if h.handler.Counted() {
		return
	}
	h.handler.OnUpdate(old.(T).GetResourceVersion(), dispatchIdentity(obj.(T)))
}

func (h dispatchHandler[O, T]) OnDelete(obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	h.handler.OnDelete(dispatchIdentity(obj.(T)))
}
