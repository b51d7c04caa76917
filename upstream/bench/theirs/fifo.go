package main

import (
	"errors"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"orrery/deltafifo"
	"orrery/internal/lab/bench/workloads"
)

// FIFO is client-go's DeltaFIFO with client-go's store.
func FIFO() workloads.FIFOGear[object] {
	return workloads.FIFOGear[object]{
		Subject: "client-go", Objects: objects,
		NewQueue: func(known []object) (workloads.FIFO[object], error) {
			store := newIndexer()
			return deltaFIFO{cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
				KnownObjects:          store,
				EmitDeltaTypeReplaced: true, // as the informer does
			})}, store.Replace(boxed(known), "1")
		},
	}
}

type deltaFIFO struct{ *cache.DeltaFIFO }

func (f deltaFIFO) Add(obj object) error { return f.DeltaFIFO.Add(obj) }

func (f deltaFIFO) Replace(objects []object, resourceVersion string) error {
	return f.DeltaFIFO.Replace(boxed(objects), resourceVersion)
}

func (f deltaFIFO) Popper(see func(obj object, deleted bool)) (pop func() error) {
	process := func(popped any, _ bool) error {
		for _, d := range popped.(cache.Deltas) {
			seeDelta(d, see)
		}
		return nil
	}
	return func() error {
		_, err := f.Pop(process)
		return closed(err)
	}
}

// RealFIFO is the default queue of client-go's informers: in order, without merging, consumed in
// batches. A list is one item, which the consumer compares with the store.
func RealFIFO() workloads.FIFOGear[object] {
	return workloads.FIFOGear[object]{
		Subject: "client-go RealFIFO", Objects: objects, NoRelist: true,
		NewQueue: func([]object) (workloads.FIFO[object], error) {
			return realFIFO{cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
				KeyFunction: cache.MetaNamespaceKeyFunc,
				// The defaults of an informer.
				AtomicEvents:          true,
				UnlockWhileProcessing: true,
				EmitDeltaTypeBookmark: true,
			})}, nil
		},
	}
}

type realFIFO struct{ *cache.RealFIFO }

func (f realFIFO) Add(obj object) error { return f.RealFIFO.Add(obj) }

func (f realFIFO) Replace(objects []object, resourceVersion string) error {
	return f.RealFIFO.Replace(boxed(objects), resourceVersion)
}

func (f realFIFO) Popper(see func(obj object, deleted bool)) (pop func() error) {
	batch := func(batch []cache.Delta, _ bool) error {
		for _, d := range batch {
			seeDelta(d, see)
		}
		return nil
	}
	single := func(popped any, _ bool) error {
		for _, d := range popped.(cache.Deltas) {
			seeDelta(d, see)
		}
		return nil
	}
	return func() error { return closed(f.PopBatch(batch, single)) }
}

// seeDelta passes the object of a delta to see.
func seeDelta(d cache.Delta, see func(obj object, deleted bool)) {
	content := d.Object
	if tombstone, ok := content.(cache.DeletedFinalStateUnknown); ok {
		content = tombstone.Obj
	}
	see(content.(object), d.Type == cache.Deleted)
}

func closed(err error) error {
	if errors.Is(err, cache.ErrFIFOClosed) {
		return deltafifo.ErrFIFOClosed
	}
	return err
}

// PriorityQueue is controller-runtime's priority queue, its controllers' default. All keys have the
// same priority.
func PriorityQueue() workloads.QueueSubject { return priorityQueue{} }

type priorityQueue struct{}

func (priorityQueue) Name() string { return "controller-runtime" }

func (priorityQueue) New(options workloads.QueueOptions) workloads.Queue {
	name := "" // no metrics
	if options.Sinks != nil {
		name = "bench"
	}
	q := priorityqueue.New(name, func(o *priorityqueue.Opts[string]) {
		o.RateLimiter = exponential()
		o.MetricProvider = queueProvider{options.Sinks}
	})
	return lastKeyKept{q}
}

// lastKeyKept keeps the key that the priority queue returns with shutdown=true while ShutDown runs.
// The workloads shut down an empty queue and count every key.
type lastKeyKept struct {
	priorityqueue.PriorityQueue[string]
}

// Get returns shutdown only without a key.
func (q lastKeyKept) Get() (key string, shutdown bool) {
	key, shutdown = q.PriorityQueue.Get()
	return key, shutdown && key == ""
}

// Queue is client-go's rate-limiting work queue.
func Queue() workloads.QueueSubject { return clientGoQueue{} }

type clientGoQueue struct{}

func (clientGoQueue) Name() string { return "client-go" }

func (clientGoQueue) New(options workloads.QueueOptions) workloads.Queue {
	config := workqueue.TypedRateLimitingQueueConfig[string]{}
	if options.Sinks != nil {
		config.Name = "bench" // a queue without a name has no metrics
		config.MetricsProvider = queueProvider{options.Sinks}
	}
	return workqueue.NewTypedRateLimitingQueueWithConfig(exponential(), config)
}

func exponential() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](workloads.Backoff, workloads.Backoff)
}

// queueProvider gives the sinks to the original's queues.
type queueProvider struct{ *workloads.Sinks }

func (p queueProvider) NewDepthMetric(string) workqueue.GaugeMetric            { return &p.Gauges }
func (p queueProvider) NewAddsMetric(string) workqueue.CounterMetric           { return &p.Adds }
func (p queueProvider) NewLatencyMetric(string) workqueue.HistogramMetric      { return &p.Waits }
func (p queueProvider) NewWorkDurationMetric(string) workqueue.HistogramMetric { return &p.Works }
func (p queueProvider) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return &p.Gauges
}
func (p queueProvider) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return &p.Gauges
}
func (p queueProvider) NewRetriesMetric(string) workqueue.CounterMetric { return &p.Retries }
