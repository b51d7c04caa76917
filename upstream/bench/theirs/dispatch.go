package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"
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

func (dispatch) New() workloads.DispatchInformer {
	d := &dispatched{}
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	d.informer = cache.NewSharedIndexInformer(dispatchListWatch{d}, &corev1.Pod{}, 0, indexers)
	return d
}

// dispatched is an informer with a channel for a watch.
type dispatched struct {
	informer cache.SharedIndexInformer
	listed   []workloads.State
	events   chan watch.Event

	registrations []cache.ResourceEventHandlerRegistration
	cancel        context.CancelFunc
	running       sync.WaitGroup
}

func (d *dispatched) Decode(document []byte) (workloads.State, error) {
	pod := &corev1.Pod{}
	return pod, json.Unmarshal(document, pod)
}

func (d *dispatched) As(state workloads.State, version string) workloads.State {
	copied := *state.(*corev1.Pod)
	copied.ResourceVersion = version
	return &copied
}

func (d *dispatched) AddHandler(h workloads.Handler) error {
	r, err := d.informer.AddEventHandler(dispatchHandler{h})
	if err == nil {
		d.registrations = append(d.registrations, r)
	}
	return err
}

func (d *dispatched) Start(listed []workloads.State, buffer int) error {
	d.listed = listed
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

func (d *dispatched) Send(state workloads.State) {
	d.events <- watch.Event{Type: watch.Modified, Object: state.(*corev1.Pod)}
}

func (d *dispatched) Stored() (stored []workloads.State) {
	for _, pod := range d.informer.GetStore().List() {
		stored = append(stored, pod.(*corev1.Pod))
	}
	return stored
}

func (d *dispatched) Stop() {
	d.cancel()
	d.running.Wait()
}

// dispatchListWatch is the ListerWatcher of a dispatched.
type dispatchListWatch struct{ *dispatched }

// IsWatchListSemanticsUnSupported reports that there are no streaming lists, for whose bookmark the
// informer would wait.
func (f dispatchListWatch) IsWatchListSemanticsUnSupported() bool { return true }

func (f dispatchListWatch) List(metav1.ListOptions) (runtime.Object, error) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, state := range f.listed {
		list.Items = append(list.Items, *state.(*corev1.Pod))
	}
	return list, nil
}

func (f dispatchListWatch) Watch(metav1.ListOptions) (watch.Interface, error) {
	return dispatchWatch(f.events), nil
}

// dispatchWatch delivers the driver's events.
type dispatchWatch chan watch.Event

func (w dispatchWatch) ResultChan() <-chan watch.Event { return w }

func (w dispatchWatch) Stop() {}

// dispatchHandler passes pods to a handler as states.
type dispatchHandler struct{ handler workloads.Handler }

func (h dispatchHandler) OnAdd(obj any, _ bool) { h.handler.OnAdd(obj.(*corev1.Pod)) }

func (h dispatchHandler) OnUpdate(old, obj any) {
	h.handler.OnUpdate(old.(*corev1.Pod), obj.(*corev1.Pod))
}

func (h dispatchHandler) OnDelete(obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	h.handler.OnDelete(obj.(*corev1.Pod))
}
