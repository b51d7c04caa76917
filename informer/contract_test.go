package informer_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/restclient/api"
	"orrery/wait"
)

// head is the object of the contract.
type head = *api.PartialObjectMetadata

func TestContract(t *testing.T) {
	lacks := map[informer.Delivery]map[informertest.Capability]string{
		informer.Batching: {}, informer.ChannelPair: {},
		informer.Bounded: {
			informertest.IndependentHandlers: "when the buffer of a handler is full the informer waits for it",
		},
		informer.Coalescing: {
			informertest.EveryChange: "what happens to an object while an event of it waits is merged into that event",
		},
	}
	for _, delivery := range []informer.Delivery{informer.Batching, informer.ChannelPair, informer.Bounded, informer.Coalescing} {
		t.Run(delivery.String(), func(t *testing.T) {
			lacks := maps.Clone(lacks[delivery])
			lacks[informertest.ArrivalOrder] = "the queue is a DeltaFIFO: an object keeps its place and collects what happens to it meanwhile"
			informertest.Run(t, informertest.Implementation{
				New: func(_ testing.TB, source *informertest.Source, cfg informertest.InformerConfig) informertest.Informer {
					return adapt(source, delivery, cfg)
				},
				SurvivePanics: survivePanics,
				Lacks:         lacks,
			})
		})
	}
}

// contractCapacity is small, so that the bounded informer has to wait now and then.
const contractCapacity = 4

// survivePanics turns the crashes of the process into entries of a log that nobody reads.
func survivePanics() (restore func()) {
	crash, handlers := wait.ReallyCrash.Swap(false), wait.PanicHandlers.Replace()
	return func() {
		wait.ReallyCrash.Store(crash)
		handlers()
	}
}

// adapter is an informer of this project as the contract wants it.
type adapter struct {
	*informer.SharedIndexInformer[head]
}

func adapt(source *informertest.Source, delivery informer.Delivery, cfg informertest.InformerConfig) informertest.Informer {
	config := informer.Config[head]{Name: "heads", ResyncPeriod: cfg.ResyncPeriod, Delivery: delivery, Capacity: contractCapacity}
	if cfg.Transform != nil {
		config.Transform = transformOf(cfg.Transform)
	}
	if cfg.Index != nil {
		config.Indexers = indexer.Indexers[head]{"contract": func(obj head) ([]string, error) {
			key, _ := informer.MetaNamespaceKeyFunc(obj)
			return nil, cfg.Index(key)
		}}
	}
	if cfg.OnError != nil {
		config.WatchErrorHandler = func(_ context.Context, err error) { cfg.OnError(err) }
	}
	return adapter{informer.NewSharedIndexInformer(source, config)}
}

func transformOf(transform func(string) (string, error)) informer.TransformFunc[head] {
	return func(obj head) (head, error) {
		value, err := transform(obj.Labels[informertest.ValueLabel])
		changed := *obj
		changed.Labels = map[string]string{informertest.ValueLabel: value}
		return &changed, err
	}
}

func (a adapter) SetTransform(transform func(string) (string, error)) error {
	return a.SharedIndexInformer.SetTransform(transformOf(transform))
}

func (a adapter) Content() map[string]string {
	out := map[string]string{}
	for key, obj := range a.GetIndexer().All() {
		out[key] = valueOf(obj)
	}
	return out
}

func valueOf(obj head) string { return obj.Labels[informertest.ValueLabel] }

func (a adapter) AddEventHandler(h func(informertest.Event), resync time.Duration) (informertest.Registration, error) {
	r, err := a.SharedIndexInformer.AddEventHandlerWithOptions(eventHandler(h), informer.HandlerOptions{ResyncPeriod: resync})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// eventHandler tells the callbacks as events of the contract.
func eventHandler(h func(informertest.Event)) informer.ResourceEventHandler[head] {
	return informer.ResourceEventHandlerFuncs[head]{
		AddFunc: func(obj head, initial bool) {
			h(informertest.Event{Kind: "add", Key: keyOf(obj), New: valueOf(obj), InitialList: initial})
		},
		UpdateFunc: func(old, obj head) {
			h(informertest.Event{Kind: "update", Key: keyOf(obj), Old: valueOf(old), New: valueOf(obj)})
		},
		DeleteFunc: func(d informer.DeletedObject[head]) {
			h(informertest.Event{Kind: "delete", Key: d.Key, Old: valueOf(d.Object), FinalStateUnknown: d.FinalStateUnknown})
		},
	}
}

func keyOf(obj head) string {
	key, _ := informer.MetaNamespaceKeyFunc(obj)
	return key
}

func (a adapter) RemoveEventHandler(r informertest.Registration) error {
	return a.SharedIndexInformer.RemoveEventHandler(r.(*informer.Registration))
}

func (a adapter) ShutDownEventHandler(ctx context.Context, r informertest.Registration) error {
	return a.SharedIndexInformer.ShutDownEventHandler(ctx, r.(*informer.Registration))
}

func (a adapter) ShutDownEventHandlerWithDrain(ctx context.Context, r informertest.Registration) error {
	return a.SharedIndexInformer.ShutDownEventHandlerWithDrain(ctx, r.(*informer.Registration))
}
