package informer_test

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/inorder"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
	"orrery/wait"
)

// head is the object of the contract.
type head = *api.PartialObjectMetadata

// forms are the sets of gears that pass the contract, with the capabilities that each lacks.
var forms = map[string]struct {
	gears   informer.Gears[head]
	lacks   map[informertest.Capability]string
	inOrder bool // the queue is no DeltaFIFO
}{
	"textbook": {lacks: textbookLacks},
	"fast":     {gears: fast.Gears[head]()},
	// If Distribute blocks, this set's queue still receives, so the suite can say what is wrong.
	"textbook processor": {gears: textbookProcessor[head]()},
	"coalescing": {
		gears: coalescing[head](),
		lacks: map[informertest.Capability]string{
			informertest.EveryChange: "changes to an object are merged into its waiting event",
		},
	},
	"a queue that pops one key": {
		gears: informer.Gears[head]{NewQueue: popOnly, NewProcessor: fast.NewProcessor[head]},
		lacks: textbookLacks,
	},
	"a queue in order of arrival": {
		gears: informer.Gears[head]{NewQueue: func(cfg deltafifo.Config[head]) informer.Queue[head] {
			return inorder.New(cfg)
		}},
		lacks: map[informertest.Capability]string{
			informertest.ResyncsDespiteRelists: textbookLacks[informertest.ResyncsDespiteRelists],
		},
		inOrder: true,
	},
	"wrapped": {gears: wrapped(fast.Gears[head]())},
}

var textbookLacks = map[informertest.Capability]string{
	informertest.ReceivesWhileProcessing: "the DeltaFIFO of the article holds its lock during Pop",
	informertest.ResyncsDespiteRelists:   "the textbook reflector restarts its timer with each list",
}

// coalescing is the fast set with the processor that merges events.
func coalescing[T any]() informer.Gears[T] {
	gears := fast.Gears[T]()
	gears.NewProcessor = fast.NewCoalescingProcessor[T]
	return gears
}

// textbookProcessor is the fast set with the textbook processor.
func textbookProcessor[T any]() informer.Gears[T] {
	gears := fast.Gears[T]()
	gears.NewProcessor = nil
	return gears
}

// popOnly is a queue without the optional methods.
func popOnly(cfg deltafifo.Config[head]) informer.Queue[head] {
	return struct{ informer.Queue[head] }{deltafifo.New(cfg)}
}

// wrapped returns the gears, each in a wrapper that has no methods but those of the interface.
func wrapped(g informer.Gears[head]) informer.Gears[head] {
	return informer.Gears[head]{
		NewQueue: func(cfg deltafifo.Config[head]) informer.Queue[head] {
			return struct{ informer.Queue[head] }{g.NewQueue(cfg)}
		},
		NewStore: func(cfg indexer.Config[head]) informer.Indexer[head] {
			return struct{ informer.Indexer[head] }{g.NewStore(cfg)}
		},
		NewReflector: func(cfg reflector.Config[head]) informer.Reflector {
			return struct{ informer.Reflector }{g.NewReflector(cfg)}
		},
		NewProcessor: func() informer.Processor[head] { return struct{ informer.Processor[head] }{g.NewProcessor()} },
	}
}

func TestContract(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		form := forms[name]
		t.Run(name, func(t *testing.T) {
			lacks := map[informertest.Capability]string{}
			if !form.inOrder {
				lacks[informertest.ArrivalOrder] = "in a DeltaFIFO an object keeps its place and accumulates changes"
			}
			maps.Copy(lacks, form.lacks)
			informertest.Run(t, informertest.Implementation{
				New: func(_ testing.TB, source *informertest.Source,
					cfg informertest.InformerConfig) informertest.Informer {
					return adapt(source, form.gears, cfg)
				},
				SurvivePanics: survivePanics,
				Lacks:         lacks,
			})
		})
	}
}

// What waits for a handler is counted, and so are the handlers that an event goes to.
func TestCounts(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		form := forms[name]
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testCounts(t, form.gears) }) })
	}
}

func testCounts(t *testing.T, gears informer.Gears[head]) {
	source := informertest.NewContractSource()
	var mu sync.Mutex
	var listeners []int
	var early []string
	queued := map[uint64]uint64{} // the number of the last event that was queued, by handler
	trace := &informer.Trace{
		Distributed: func(_ informer.EventInfo, n int) {
			mu.Lock()
			defer mu.Unlock()
			listeners = append(listeners, n)
		},
		HandlerQueued: func(h informer.HandlerInfo, q informer.QueuedInfo) {
			for range 100 {
				runtime.Gosched() // lets the handler come first, if it has the event already
			}
			mu.Lock()
			defer mu.Unlock()
			queued[h.ID] = max(queued[h.ID], q.Number)
		},
		HandlerCalled: func(h informer.HandlerInfo, e informer.EventInfo) {
			mu.Lock()
			defer mu.Unlock()
			if e.Number > queued[h.ID] {
				early = append(early, e.Key)
			}
		},
	}
	distributed := func() []int {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(listeners)
	}
	inf := informer.NewSharedIndexInformer(source,
		informer.Config[head]{ResyncPeriod: time.Minute, Gears: gears, Trace: trace})
	returns := make(chan struct{})
	slow := func(informertest.Event) { <-returns }
	_, err := inf.AddEventHandlerWithOptions(eventHandler(slow), informer.HandlerOptions{ResyncPeriod: -1})
	require.NoError(t, err)
	_, err = inf.AddEventHandler(eventHandler(func(informertest.Event) {}))
	require.NoError(t, err)
	pending := func() (counts []int) {
		synctest.Wait()
		for _, h := range inf.Snapshot().Handlers {
			counts = append(counts, h.Pending)
		}
		return counts
	}
	running(t, inf)
	assert.Equal(t, []int{0, 0}, pending(), "a Synced mark is no event, so it does not count as pending")
	for _, name := range []string{"a", "b", "c"} {
		obj := &api.PartialObjectMetadata{}
		obj.Name = name
		source.Add(obj)
	}
	assert.Equal(t, []int{3, 0}, pending(), "the slow handler is in its first callback")
	assert.Equal(t, []int{2, 2, 2}, distributed(), "each event goes to both handlers")
	time.Sleep(61 * time.Second)
	assert.Equal(t, []int{3, 0}, pending(), "a resync that is not due for the slow handler is not counted for it")
	assert.Equal(t, []int{2, 2, 2, 1, 1, 1}, distributed(), "a resync goes to one of the two handlers")
	close(returns)
	assert.Equal(t, []int{0, 0}, pending(), "no event waits once every callback has returned")
	assert.Empty(t, early, "an event is counted, with RegisteredHandler.Queued, before the handler can get it")
}

// The hook Distributed may call the informer: no lock is held that AddEventHandler needs. A bubble
// does not notice a goroutine that waits for a mutex, so this test uses real time, which only a
// failure needs.
func TestDistributedIsCalledWithoutALock(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		form := forms[name]
		t.Run(name, func(t *testing.T) {
			source := informertest.NewContractSource()
			var inf *informer.SharedIndexInformer[head]
			called := make(chan struct{})
			var once sync.Once
			trace := &informer.Trace{Distributed: func(informer.EventInfo, int) {
				once.Do(func() {
					defer close(called)
					added := make(chan error, 1)
					go func() {
						_, err := inf.AddEventHandler(eventHandler(func(informertest.Event) {}))
						added <- err
					}()
					select {
					case err := <-added:
						assert.NoError(t, err)
					case <-time.After(10 * time.Second):
						t.Error("the hook Distributed is called with blockDeltas held: AddEventHandler does not " +
							"return there")
					}
				})
			}}
			inf = informer.NewSharedIndexInformer(source, informer.Config[head]{Gears: form.gears, Trace: trace})
			_, err := inf.AddEventHandler(eventHandler(func(informertest.Event) {}))
			require.NoError(t, err)
			running(t, inf)
			obj := &api.PartialObjectMetadata{}
			obj.Name = "a"
			source.Add(obj)
			<-called
		})
	}
}

// A stored object that is changed is reported, and one that has left the store no longer.
func TestStoredObjectsAreWatchedForMutations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards found
		var found []string
		source := informertest.NewContractSource()
		detector := informer.MutationDetectorConfig{
			Enabled: true,
			OnMutation: func(err *informer.MutationError) {
				mu.Lock()
				defer mu.Unlock()
				found = append(found, err.Key)
			},
		}
		inf := informer.NewSharedIndexInformer(source, informer.Config[head]{MutationDetector: detector})
		running(t, inf)
		synctest.Wait()
		obj := &api.PartialObjectMetadata{}
		obj.Name, obj.Labels = "a", map[string]string{}
		source.Add(obj)
		other := &api.PartialObjectMetadata{}
		other.Name = "other"
		order := func() { // this goroutine and the detector meet at their locks
			source.Modify(other)
			synctest.Wait()
			inf.GetIndexer().ListKeys()
		}
		change := func(value string) []string {
			order()
			obj.Labels["changed"] = value
			order()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			defer func() { found = nil }()
			return found
		}
		synctest.Wait()
		assert.Equal(t, []string{"a"}, change("by a handler"))
		source.Delete("a")
		time.Sleep(3 * time.Second) // the last check of its last state
		assert.Empty(t, change("after the deletion"), "the object is not in the store any more")
	})
}

// running runs an informer until stop is called, or the test ends.
func running(t *testing.T, inf interface{ Run(context.Context) error }) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- inf.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

// survivePanics turns crashes into entries of a discarded log.
func survivePanics() (restore func()) {
	crash, handlers := wait.ReallyCrash.Swap(false), wait.PanicHandlers.Replace()
	return func() {
		wait.ReallyCrash.Store(crash)
		handlers()
	}
}

// adapter adapts an informer of this project to the contract.
type adapter struct {
	*informer.SharedIndexInformer[head]
}

func adapt(source *informertest.Source, gears informer.Gears[head],
	cfg informertest.InformerConfig) informertest.Informer {
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

// valueOf returns the content of an object. An event without the object that it should have does
// not crash the test.
func valueOf(obj head) string {
	if obj == nil {
		return "(no object)"
	}
	return obj.Labels[informertest.ValueLabel]
}

func (a adapter) AddEventHandler(h func(informertest.Event), resync time.Duration) (informertest.Registration, error) {
	r, err := a.SharedIndexInformer.AddEventHandlerWithOptions(eventHandler(h),
		informer.HandlerOptions{ResyncPeriod: resync})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// eventHandler reports the callbacks as events of the contract.
func eventHandler(h func(informertest.Event)) informer.ResourceEventHandler[head] {
	return informer.ResourceEventHandlerFuncs[head]{
		AddFunc: func(obj head, initial bool) {
			h(informertest.Event{Kind: "add", Key: keyOf(obj), New: valueOf(obj), InitialList: initial})
		},
		UpdateFunc: func(old, obj head) {
			h(informertest.Event{Kind: "update", Key: keyOf(obj), Old: valueOf(old), New: valueOf(obj)})
		},
		DeleteFunc: func(d informer.DeletedObject[head]) {
			h(informertest.Event{Kind: "delete", Key: d.Key, Old: valueOf(d.Object),
				FinalStateUnknown: d.FinalStateUnknown})
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
