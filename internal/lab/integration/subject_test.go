package integration_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient"
	"orrery/restclient/api"
)

// subject is an informer of any type, with its collection on the server.
type subject interface {
	on() *collection
	join() error
	recorder(handler int) *informertest.Recorder
	Snapshot() informer.Snapshot
	content() map[string]string
	verify() error
}

// labeled is an object with labels.
type labeled interface {
	informer.Object
	GetLabels() map[string]string
}

// settings are the options of a test's informers.
type settings struct {
	reflector.Config[*api.Namespace] // only fields that do not depend on the type
	resync                           time.Duration
	work                             time.Duration // the duration of a callback
}

// watched is a subject.
type watched[T labeled] struct {
	*informer.SharedIndexInformer[T]
	collection    *collection
	settings      settings
	recorders     []*informertest.Recorder
	registrations []*informer.Registration
	// differs returns the difference between a stored object and the server's.
	differs func(server *api.Unstructured, stored T) string
}

// watch returns the informer of a collection, run by the factory.
func watch[T labeled](factory *informer.SharedInformerFactory, c *collection, resource *restclient.Resource[T], s settings,
	differs func(*api.Unstructured, T) string) subject {
	shared := informer.InformerFor(factory, c.path, func(time.Duration) *informer.SharedIndexInformer[T] {
		return informer.NewSharedIndexInformer(resource, configOf[T](c, s))
	})
	return &watched[T]{SharedIndexInformer: shared, collection: c, settings: s, differs: differs}
}

func configOf[T labeled](c *collection, s settings) informer.Config[T] {
	return informer.Config[T]{
		Name:         c.kind,
		ResyncPeriod: s.resync,
		Gears:        fast.Gears[T](),
		Reflector: reflector.Config[T]{
			PageSize: s.PageSize, DisableWatchList: s.DisableWatchList, MinWatchTimeout: s.MinWatchTimeout,
			IdleTimeout: s.IdleTimeout, Backoff: s.Backoff,
			Trace: &reflector.Trace{
				BackOff:                func(d time.Duration, err error) { c.logf("  back off %s: %s", d, describe(err)) },
				IdleTimeout:            func(d time.Duration) { c.logf("  silent for %s", d) },
				StreamingListAbandoned: func(err error) { c.logf("  no streaming list: %s", describe(err)) },
				Listed: func(info reflector.ListInfo) {
					c.logf("  %d objects at %q", info.Items, info.ResourceVersion)
				},
			},
		},
		WatchErrorHandler: func(_ context.Context, err error) { c.logf("! %s", describe(err)) },
		// Decoders reuse their buffers: no object may refer to one.
		MutationDetector: informer.MutationDetectorConfig{
			Enabled: true, Period: time.Minute,
			OnMutation: func(err *informer.MutationError) { panic(err) },
		},
	}
}

func (w *watched[T]) on() *collection { return w.collection }

func (w *watched[T]) recorder(handler int) *informertest.Recorder { return w.recorders[handler] }

// join adds a handler.
func (w *watched[T]) join() error {
	recorder := &informertest.Recorder{During: func(informertest.Event) { time.Sleep(w.settings.work) }}
	registration, err := w.AddEventHandler(informer.ResourceEventHandlerFuncs[T]{
		AddFunc: func(obj T, initial bool) {
			recorder.Handle(informertest.Event{Kind: "add", Key: obj.GetName(), New: valueOf(obj), InitialList: initial})
		},
		UpdateFunc: func(old, obj T) {
			recorder.Handle(informertest.Event{Kind: "update", Key: obj.GetName(), Old: valueOf(old), New: valueOf(obj)})
		},
		DeleteFunc: func(d informer.DeletedObject[T]) {
			recorder.Handle(informertest.Event{Kind: "delete", Key: d.Object.GetName(), Old: valueOf(d.Object), FinalStateUnknown: d.FinalStateUnknown})
		},
	})
	if err == nil {
		w.recorders, w.registrations = append(w.recorders, recorder), append(w.registrations, registration)
	}
	return err
}

func valueOf(obj labeled) string { return obj.GetLabels()[informertest.ValueLabel] }

// content returns the content of the store, name to value and version.
func (w *watched[T]) content() map[string]string {
	out := map[string]string{}
	for _, obj := range w.GetIndexer().List() {
		out[obj.GetName()] = valueOf(obj) + "@" + obj.GetResourceVersion()
	}
	return out
}

// verify compares store and histories with the server.
func (w *watched[T]) verify() error {
	server := w.collection.source.Objects()
	if have := w.GetIndexer().Len(); have != len(server) {
		return fmt.Errorf("the store has %d objects, the server %d: %v", have, len(server), w.content())
	}
	values := map[string]string{}
	for key, want := range server {
		stored, found := w.GetIndexer().GetByKey(key)
		if !found {
			return fmt.Errorf("%s is not in the store", key)
		}
		if stored.GetResourceVersion() != want.GetResourceVersion() || valueOf(stored) != valueOf(want) || stored.GetNamespace() != want.GetNamespace() {
			return fmt.Errorf("%s is %s@%s in the store and %s@%s on the server", key,
				valueOf(stored), stored.GetResourceVersion(), valueOf(want), want.GetResourceVersion())
		}
		if difference := w.differs(want, stored); difference != "" {
			return fmt.Errorf("%s: %s", key, difference)
		}
		values[want.GetName()] = valueOf(want)
	}
	if !w.HasSynced() {
		return errors.New("the informer has not synced")
	}
	return w.checkHandlers(values)
}

func (w *watched[T]) checkHandlers(values map[string]string) error {
	for i, recorder := range w.recorders {
		got, err := recorder.Replay()
		if err != nil {
			return fmt.Errorf("handler %d: %w", i, err)
		}
		if !reflect.DeepEqual(got, values) {
			return fmt.Errorf("handler %d ends at %v, the server at %v", i, got, values)
		}
		if !w.registrations[i].HasSynced() {
			return fmt.Errorf("handler %d has not synced", i)
		}
	}
	if shot := w.Snapshot(); shot.ProcessErrors > 0 || shot.Reflector.StoreErrors > 0 {
		return fmt.Errorf("events were not applied: %v, %v", shot.LastProcessError, shot.Reflector.LastStoreError)
	}
	return nil
}

func typedDiffers(want *api.Unstructured, have *api.Namespace) string {
	if phase := want.NestedString("status", "phase"); string(have.Status.Phase) != phase {
		return fmt.Sprintf("the phase is %q in the store and %q on the server", have.Status.Phase, phase)
	}
	return ""
}

func headDiffers(want *api.Unstructured, have *api.PartialObjectMetadata) string {
	if have.UID != want.GetUID() || !strings.HasPrefix(have.Kind, "Partial") {
		return fmt.Sprintf("uid %q, kind %q", have.UID, have.Kind)
	}
	return ""
}

func documentDiffers(want, have *api.Unstructured) string {
	if !reflect.DeepEqual(want.Object, have.Object) {
		return fmt.Sprintf("the document is\n%v, on the server\n%v", have.Object, want.Object)
	}
	return ""
}
