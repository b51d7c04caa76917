package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"time"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient"
	"orrery/restclient/api"
)

// watched is an informer of any type with its handlers.
type watched interface {
	name() string
	resource() api.GroupVersionResource
	join() error
	snapshot() informer.Snapshot
	// compare compares store and histories with what the server lists, by key.
	compare(want map[string]document) error
}

// document is a decoded JSON object.
type document map[string]any

// labeledObject is an object with labels.
type labeledObject interface {
	informer.Object
	GetLabels() map[string]string
}

// watching is a watched informer.
type watching[T labeledObject] struct {
	*informer.SharedIndexInformer[T]
	gvr           api.GroupVersionResource
	recorders     []*informertest.Recorder
	registrations []*informer.Registration
}

func observe[T labeledObject](o *observers, resource *restclient.Resource[T]) watched {
	gvr := resource.GroupVersionResource()
	shared := informer.InformerFor(&o.informers, gvr.Resource, func(time.Duration) *informer.SharedIndexInformer[T] {
		return informer.NewSharedIndexInformer(resource, informer.Config[T]{
			Name:  fmt.Sprintf("%s as %T", gvr.Resource, *new(T)),
			Gears: fast.Gears[T](),
			Reflector: reflector.Config[T]{
				PageSize: 7, // without a watch cache a list then has several pages
				Backoff:  reflector.BackoffConfig{Max: 5 * time.Second},
				// Streaming lists are abandoned only where the server does not offer them, not
				// because it is slow or restarts.
				InitialEventsTimeout: waitTimeout, InitialEventsDeadline: waitTimeout, StreamingListAttempts: 1000,
			},
		})
	})
	return &watching[T]{SharedIndexInformer: shared, gvr: gvr}
}

func (w *watching[T]) name() string                       { return w.Name() }
func (w *watching[T]) resource() api.GroupVersionResource { return w.gvr }
func (w *watching[T]) snapshot() informer.Snapshot        { return w.Snapshot() }

// join adds a handler that records its notifications. An object's value is its label.
func (w *watching[T]) join() error {
	recorder := &informertest.Recorder{}
	registration, err := w.AddEventHandler(informer.ResourceEventHandlerFuncs[T]{
		AddFunc: func(obj T, initial bool) {
			recorder.Handle(informertest.Event{Kind: "add", Key: keyOf(obj), New: valueOf(obj), InitialList: initial})
		},
		UpdateFunc: func(old, obj T) {
			recorder.Handle(informertest.Event{Kind: "update", Key: keyOf(obj), Old: valueOf(old), New: valueOf(obj)})
		},
		DeleteFunc: func(d informer.DeletedObject[T]) {
			recorder.Handle(informertest.Event{Kind: "delete", Key: d.Key, Old: valueOf(d.Object), FinalStateUnknown: d.FinalStateUnknown})
		},
	})
	w.recorders, w.registrations = append(w.recorders, recorder), append(w.registrations, registration)
	return err
}

func keyOf(obj labeledObject) string {
	key, _ := informer.MetaNamespaceKeyFunc(obj)
	return key
}

func valueOf(obj labeledObject) string { return obj.GetLabels()[valueLabel] }

func (w *watching[T]) compare(want map[string]document) error {
	store := w.GetIndexer()
	if have := store.Len(); have != len(want) {
		return fmt.Errorf("the store has %d objects, the server %d", have, len(want))
	}
	values := map[string]string{}
	for key, theirs := range want {
		obj, found := store.GetByKey(key)
		if !found {
			return fmt.Errorf("%s is not in the store", key)
		}
		if err := w.compareObject(obj, theirs); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		values[key] = valueOf(obj)
	}
	for i, recorder := range w.recorders {
		replayed, err := recorder.Replay()
		if err != nil {
			return fmt.Errorf("handler %d: %w", i, err)
		}
		if !reflect.DeepEqual(replayed, values) {
			return fmt.Errorf("handler %d has %d objects, the server %d, or their values differ", i, len(replayed), len(values))
		}
		if !w.registrations[i].HasSynced() {
			return fmt.Errorf("handler %d has not synced", i)
		}
	}
	return nil
}

// compareObject compares the fields of the informer's type with the whole object.
func (w *watching[T]) compareObject(obj T, theirs document) error {
	ours, err := documentOf(obj)
	if err != nil {
		return err
	}
	switch any(obj).(type) {
	case *api.PartialObjectMetadata: // without managed fields, which no controller reads
		theirMetadata, _ := theirs["metadata"].(map[string]any)
		theirMetadata = maps.Clone(theirMetadata)
		delete(theirMetadata, "managedFields")
		ours, theirs = document{"metadata": ours["metadata"]}, document{"metadata": theirMetadata}
	case *api.Namespace: // items of a list have no kind
		delete(ours, "kind")
		delete(ours, "apiVersion")
		theirs = document{"metadata": theirs["metadata"], "spec": theirs["spec"], "status": theirs["status"]}
	}
	if !reflect.DeepEqual(ours, theirs) {
		return fmt.Errorf("the store has\n%v, the server\n%v", ours, theirs)
	}
	return nil
}

func documentOf(obj any) (document, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var d document
	return d, json.Unmarshal(text, &d)
}
