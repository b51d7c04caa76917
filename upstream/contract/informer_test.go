package contract

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// TestInformer runs the contract of package informer against client-go's shared informer.
func TestInformer(t *testing.T) {
	// One of the error handlers limits errors to one a millisecond. It remembers the start of the
	// process, decades ahead of a bubble's clock, and would sleep until then.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	defer func() { utilruntime.ErrorHandlers = handlers }()

	informertest.Run(t, informertest.Implementation{
		New:           newOriginalInformer,
		SurvivePanics: surviveOriginalPanics,
		Lacks: map[informertest.Capability]string{
			informertest.SyncsAfterPanic: "an initial item whose callback panicked is never counted as " +
				"handled (kubernetes/kubernetes#129024)",
			informertest.ReportsProcessErrors: "the reflector logs what the queue refuses, and errors of " +
				"processing are dropped",
			informertest.SkipsRefused:        "one refused object fails its list; deletions are transformed, too",
			informertest.SurvivesIndexErrors: "an index function that fails panics while the store is locked",
			informertest.RefusesForeign:      "removing a registration of another informer does nothing",
			informertest.RefusesSecondRun:    "the second Run only logs",
			informertest.ReportsEnd:          "ShutDownEventHandler came with 0.37 (kubernetes/kubernetes#139755)",
			informertest.HandlersMayExit:     "pop waits forever to hand over the next event, and so does Run",
			informertest.QuietRelists: "a listener counts as due from its registration to the first " +
				"resync, which is never if the informer has none",
			informertest.TransformsOnce: "the initial events of a streaming list are transformed on their " +
				"way into a temporary store and again into the queue",
			informertest.ResyncsDespiteRelists: "the resync timer starts over with each round of list and watch",
		},
	})
}

// surviveOriginalPanics makes client-go recover from panics without logs.
func surviveOriginalPanics() (restore func()) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	return func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }
}

// originalInformer adapts client-go's shared informer to the contract.
type originalInformer struct {
	cache.SharedIndexInformer
}

func newOriginalInformer(t testing.TB, source *informertest.Source,
	cfg informertest.InformerConfig) informertest.Informer {
	opts := cache.SharedIndexInformerOptions{ResyncPeriod: cfg.ResyncPeriod}
	if cfg.Index != nil {
		opts.Indexers = cache.Indexers{"contract": func(obj any) ([]string, error) {
			key, err := cache.MetaNamespaceKeyFunc(obj)
			return nil, errors.Join(err, cfg.Index(key))
		}}
	}
	original := cache.NewSharedIndexInformerWithOptions(originalSource{source}, &metav1.PartialObjectMetadata{}, opts)
	informer := originalInformer{original}
	if cfg.Transform != nil {
		if err := informer.SetTransform(cfg.Transform); err != nil {
			t.Fatal(err)
		}
	}
	tell := func(_ context.Context, _ *cache.Reflector, err error) {
		if cfg.OnError != nil {
			cfg.OnError(err)
		}
	}
	if err := informer.SetWatchErrorHandlerWithContext(tell); err != nil {
		t.Fatal(err)
	}
	return informer
}

func (o originalInformer) Run(ctx context.Context) error {
	o.RunWithContext(ctx)
	return nil
}

func (o originalInformer) SetTransform(transform func(string) (string, error)) error {
	return o.SharedIndexInformer.SetTransform(func(obj any) (any, error) {
		changed := obj.(*metav1.PartialObjectMetadata).DeepCopy()
		value, err := transform(originalValue(changed))
		changed.Labels[informertest.ValueLabel] = value
		return changed, err
	})
}

func (o originalInformer) Content() map[string]string {
	out := map[string]string{}
	for _, obj := range o.GetStore().List() {
		out[originalKey(obj)] = originalValue(obj)
	}
	return out
}

func (o originalInformer) AddEventHandler(h func(informertest.Event),
	resync time.Duration) (informertest.Registration, error) {
	var opts cache.HandlerOptions
	if resync != 0 {
		period := max(resync, 0)
		opts.ResyncPeriod = &period
	}
	r, err := o.AddEventHandlerWithOptions(originalHandler(h), opts)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (o originalInformer) RemoveEventHandler(r informertest.Registration) error {
	return o.SharedIndexInformer.RemoveEventHandler(r.(cache.ResourceEventHandlerRegistration))
}

func originalHandler(h func(informertest.Event)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			h(informertest.Event{Kind: "add", Key: originalKey(obj), New: originalValue(obj), InitialList: initial})
		},
		UpdateFunc: func(old, obj any) {
			h(informertest.Event{Kind: "update", Key: originalKey(obj), Old: originalValue(old),
				New: originalValue(obj)})
		},
		DeleteFunc: func(obj any) {
			event := informertest.Event{Kind: "delete", Key: originalKey(obj)}
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj, event.FinalStateUnknown = tombstone.Obj, true
			}
			event.Old = originalValue(obj)
			h(event)
		},
	}
}

func originalKey(obj any) string {
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	return key
}

func originalValue(obj any) string {
	return obj.(*metav1.PartialObjectMetadata).Labels[informertest.ValueLabel]
}

// originalSource adapts the source to client-go's ListerWatcher.
type originalSource struct{ source *informertest.Source }

func (s originalSource) List(opts metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), opts)
}

func (s originalSource) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	list, err := s.source.List(ctx, originalOptions(opts))
	if err != nil {
		return nil, originalError(err)
	}
	out := &metav1.PartialObjectMetadataList{}
	out.ResourceVersion, out.Continue = list.ResourceVersion, list.Continue
	for _, item := range list.Items {
		out.Items = append(out.Items, *originalObject(item))
	}
	return out, nil
}

func (s originalSource) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), opts)
}

func (s originalSource) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	watcher, err := s.source.Watch(ctx, originalOptions(opts))
	if err != nil {
		return nil, originalError(err)
	}
	return watch.NewStreamWatcher(originalDecoder{watcher}, nil), nil
}

// originalDecoder makes client-go's stream of a watcher, which ends at any error.
type originalDecoder struct {
	watcher api.Watcher[*api.PartialObjectMetadata]
}

func (d originalDecoder) Decode() (watch.EventType, runtime.Object, error) {
	event, err := d.watcher.Next()
	if err != nil {
		return "", nil, io.EOF
	}
	original := originalEvent(event)
	return original.Type, original.Object, nil
}

func (d originalDecoder) Close() { d.watcher.Stop() }

func originalEvent(event api.WatchEvent[*api.PartialObjectMetadata]) watch.Event {
	out := watch.Event{Type: watch.EventType(event.Type)}
	switch event.Type {
	case api.WatchError:
		out.Object = convert(event.Status, &metav1.Status{})
	case api.WatchBookmark:
		bookmark := &metav1.PartialObjectMetadata{}
		bookmark.ResourceVersion = event.ResourceVersion
		if event.InitialEventsEnd {
			bookmark.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		}
		out.Object = bookmark
	default:
		out.Object = originalObject(event.Object)
	}
	return out
}

func originalObject(obj *api.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	return convert(obj, &metav1.PartialObjectMetadata{})
}

func originalOptions(opts metav1.ListOptions) api.ListOptions {
	out := api.ListOptions{
		ResourceVersion:      opts.ResourceVersion,
		ResourceVersionMatch: api.ResourceVersionMatch(opts.ResourceVersionMatch),
		Limit:                opts.Limit,
		Continue:             opts.Continue,
		AllowWatchBookmarks:  opts.AllowWatchBookmarks,
		SendInitialEvents:    opts.SendInitialEvents != nil && *opts.SendInitialEvents,
	}
	if opts.TimeoutSeconds != nil {
		out.TimeoutSeconds = *opts.TimeoutSeconds
	}
	return out
}

// originalError makes client-go recognise a refusal.
func originalError(err error) error {
	var status *api.StatusError
	if !errors.As(err, &status) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: *convert(&status.Status, &metav1.Status{})}
}

// convert converts a value by way of JSON.
func convert[T any](from any, into T) T {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic(err) // both are types of the API
	}
	return into
}
