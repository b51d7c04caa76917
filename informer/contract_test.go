package informer_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/informertest"
	"orrery/restclient/api"
	"orrery/wait"
)

// head is the object of the contract.
type head = *api.PartialObjectMetadata

// forms are the sets of gears that pass the contract, with what each lacks.
var forms = map[string]struct {
	gears informer.Gears[head]
	lacks map[informertest.Capability]string
}{
	"textbook": {lacks: textbookLacks},
	"fast":     {gears: fast.Gears[head]()},
	"coalescing": {
		gears: coalescing[head](),
		lacks: map[informertest.Capability]string{
			informertest.EveryChange: "what happens to an object while an event of it waits is merged into that event",
		},
	},
	"a queue that pops one key": {
		gears: informer.Gears[head]{NewQueue: popOnly, NewProcessor: fast.NewProcessor[head]},
		lacks: textbookLacks,
	},
}

var textbookLacks = map[informertest.Capability]string{
	informertest.ReceivesWhileProcessing: "the DeltaFIFO of the article holds its lock during Pop",
	informertest.ResyncsDespiteRelists:   "the textbook reflector starts its timer anew with each list",
}

// coalescing is the fast set with the processor that merges events.
func coalescing[T any]() informer.Gears[T] {
	gears := fast.Gears[T]()
	gears.NewProcessor = fast.NewCoalescingProcessor[T]
	return gears
}

// popOnly is a queue without the optional extras.
func popOnly(cfg deltafifo.Config[head]) informer.Queue[head] {
	return struct{ informer.Queue[head] }{deltafifo.New(cfg)}
}

func TestContract(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			lacks := map[informertest.Capability]string{
				informertest.ArrivalOrder: "the queue is a DeltaFIFO: an object keeps its place and collects what happens to it meanwhile",
			}
			maps.Copy(lacks, form.lacks)
			informertest.Run(t, informertest.Implementation{
				New: func(_ testing.TB, source *informertest.Source, cfg informertest.InformerConfig) informertest.Informer {
					return adapt(source, form.gears, cfg)
				},
				SurvivePanics: survivePanics,
				Lacks:         lacks,
			})
		})
	}
}

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

func adapt(source *informertest.Source, gears informer.Gears[head], cfg informertest.InformerConfig) informertest.Informer {
	config := informer.Config[head]{Name: "heads", ResyncPeriod: cfg.ResyncPeriod, Gears: gears}
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

func (a adapter) Content() map[string]string {
	out := map[string]string{}
	for _, obj := range a.GetIndexer().List() {
		out[keyOf(obj)] = valueOf(obj)
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
