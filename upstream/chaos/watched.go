package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/reflector"
	"orrery/internal/lab/chaos"
	"orrery/restclient"
)

// watched is an informer of any type, with two handlers.
type watched interface {
	resource() schema.GroupVersionResource
	// differences returns how the store and each handler's last state differ from the server's.
	differences(server map[string]chaos.State) []string
	// faults returns what cannot become right.
	faults() []string
	// events returns the number of events that the handlers received.
	events() int
	run(ctx context.Context) error
}

// watching is a watched informer of objects of type T.
type watching[T chaos.Object] struct {
	name      string
	shared    *informer.SharedIndexInformer[T]
	gvr       schema.GroupVersionResource
	histories []*chaos.History
}

// longestBackOff is the informers' limit, before jitter doubles it. It is shorter than usual, so
// that they recover soon after a step.
const longestBackOff = 4 * time.Second

// watch adds an informer of a resource to the observers. It lists in pages of pageSize, or as a
// stream if that is 0.
func watch[T chaos.Object](o *observers, name string, resource *restclient.Resource[T], pageSize int64) error {
	gvr := resource.GroupVersionResource()
	config := informer.Config[T]{Name: name, Gears: fast.Gears[T](), Reflector: reflector.Config[T]{
		PageSize: pageSize, DisableWatchList: pageSize > 0, Backoff: reflector.BackoffConfig{Max: longestBackOff},
	}}
	w := &watching[T]{
		name:   name,
		shared: informer.NewSharedIndexInformer(resource, config),
		gvr:    schema.GroupVersionResource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource},
	}
	for _, options := range []informer.HandlerOptions{{Name: "plain"}, {Name: "coalescing", Coalescing: true}} {
		h := chaos.NewHistory(name+", "+options.Name, false, nil)
		if _, err := w.shared.AddEventHandlerWithOptions(handlerOf[T](h), options); err != nil {
			return fmt.Errorf("%s: add a handler: %w", name, err)
		}
		w.histories = append(w.histories, h)
	}
	o.watched = append(o.watched, w)
	return nil
}

// handlerOf returns a handler that only remembers.
func handlerOf[T chaos.Object](h *chaos.History) informer.ResourceEventHandler[T] {
	return informer.ResourceEventHandlerFuncs[T]{
		AddFunc: func(obj T, initial bool) {
			h.Added(keyOf(obj), chaos.StateOf(obj), initial)
		},
		UpdateFunc: func(old, obj T) {
			h.Updated(keyOf(obj), chaos.StateOf(old), chaos.StateOf(obj))
		},
		DeleteFunc: func(d informer.DeletedObject[T]) {
			h.Deleted(d.Key, chaos.StateOf(d.Object), d.FinalStateUnknown)
		},
	}
}

func keyOf(obj informer.Object) string {
	key, _ := informer.MetaNamespaceKeyFunc(obj)
	return key
}

func (w *watching[T]) resource() schema.GroupVersionResource { return w.gvr }
func (w *watching[T]) run(ctx context.Context) error         { return w.shared.Run(ctx) }

func (w *watching[T]) differences(server map[string]chaos.State) (found []string) {
	store := map[string]chaos.State{}
	for _, obj := range w.shared.GetIndexer().List() {
		store[keyOf(obj)] = chaos.StateOf(obj)
	}
	for _, line := range chaos.Compare(store, server) {
		found = append(found, w.name+", store: "+line)
	}
	for _, h := range w.histories {
		found = append(found, h.Differences(server)...)
	}
	return found
}

func (w *watching[T]) faults() (found []string) {
	for _, h := range w.histories {
		found = append(found, h.Violations()...)
	}
	shot := w.shared.Snapshot()
	if shot.ProcessErrors > 0 {
		found = append(found, fmt.Sprintf("%s: events were not applied: %v", w.name, shot.LastProcessError))
	}
	if shot.Reflector.StoreErrors > 0 {
		found = append(found, fmt.Sprintf("%s: events were not stored: %v", w.name, shot.Reflector.LastStoreError))
	}
	return found
}

func (w *watching[T]) events() (sum int) {
	for _, h := range w.histories {
		sum += h.Count()
	}
	return sum
}
