package metrics

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"orrery/deltafifo"
	"orrery/informer"
)

// InformerID is how Kubernetes' metrics name an informer.
type InformerID struct {
	Name                     string // of the program or of the part of it that the informer belongs to
	Group, Version, Resource string
}

func (id InformerID) labels() []string { return []string{id.Name, id.Group, id.Version, id.Resource} }

// informers are the metrics of informers. What their snapshots tell is read when the metrics are: it costs an event
// nothing.
type informers struct {
	processing *prometheus.HistogramVec
	descs      map[*Definition]*prometheus.Desc

	mu      sync.Mutex
	watched []*watchedInformer // guarded by mu
}

// watchedInformer is one informer.
type watchedInformer struct {
	id       InformerID
	snapshot func() informer.Snapshot
	stalls   map[uint64]stall // by the handlers' IDs
}

// stall is what was seen of a handler at the last reading.
type stall struct {
	handled uint64
	since   time.Time // when handled was seen for the first time
}

// fromSnapshots are the metrics that are read from snapshots.
var fromSnapshots = []*Definition{
	informerQueued, informerVersion, informerObjects, informerSynced, informerErrors,
	reflectorLists, reflectorWatches, reflectorEvents, reflectorBookmarks, reflectorFailures,
	listenerBacklog, listenerPeak, listenerHandled, listenerMerged, listenerPanics, listenerBlocked, listenerStalled,
}

func newInformers(registry *prometheus.Registry) *informers {
	i := &informers{
		processing: register(registry, informerProcessing.histograms()),
		descs:      map[*Definition]*prometheus.Desc{},
	}
	for _, definition := range fromSnapshots {
		i.descs[definition] = definition.desc()
	}
	return register(registry, i)
}

// Informer has the metrics show what the snapshots of an informer tell.
func (m *Metrics) Informer(id InformerID, snapshot func() informer.Snapshot) {
	m.informers.mu.Lock()
	defer m.informers.mu.Unlock()
	m.informers.watched = append(m.informers.watched, &watchedInformer{id: id, snapshot: snapshot, stalls: map[uint64]stall{}})
}

// FIFO returns hooks for the DeltaFIFO of an informer. They are for one FIFO, which has one consumer.
func FIFO[T any](m *Metrics, id InformerID) *deltafifo.Trace[T] {
	latency := m.informers.processing.WithLabelValues(id.labels()...)
	var popped time.Time // belongs to the consumer
	return &deltafifo.Trace[T]{
		Popped:    func(string, deltafifo.Deltas[T], bool, int) { popped = time.Now() },
		Processed: func(string, deltafifo.Deltas[T], error) { latency.Observe(time.Since(popped).Seconds()) },
	}
}

// Describe is of prometheus.Collector.
func (i *informers) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range i.descs {
		descs <- desc
	}
}

// Collect is of prometheus.Collector.
func (i *informers) Collect(values chan<- prometheus.Metric) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, w := range i.watched {
		i.collect(w, values)
	}
}

func (i *informers) collect(w *watchedInformer, values chan<- prometheus.Metric) {
	s := w.snapshot()
	put := func(definition *Definition, value float64, labels ...string) {
		kind := prometheus.GaugeValue
		if definition.Kind == Counter {
			kind = prometheus.CounterValue
		}
		values <- prometheus.MustNewConstMetric(i.descs[definition], kind, value, labels...)
	}
	put(informerQueued, float64(s.Queued), w.id.labels()...)
	if version, ok := shortVersion(s.Reflector.ResourceVersion); ok {
		put(informerVersion, version, w.id.labels()...)
	}
	put(informerObjects, float64(s.Objects), s.Name)
	put(informerSynced, boolean(s.HasSynced), s.Name)
	put(informerErrors, float64(s.ProcessErrors), s.Name)

	put(reflectorLists, float64(s.Reflector.Lists), s.Name)
	put(reflectorWatches, float64(s.Reflector.Watches), s.Name)
	put(reflectorEvents, float64(s.Reflector.Events), s.Name)
	put(reflectorBookmarks, float64(s.Reflector.Bookmarks), s.Name)
	put(reflectorFailures, float64(s.Reflector.Failures), s.Name)

	now := time.Now()
	for name, h := range w.named(s.Handlers) {
		put(listenerBacklog, float64(h.Pending), s.Name, name)
		put(listenerPeak, float64(h.PeakPending), s.Name, name)
		put(listenerHandled, float64(h.Handled), s.Name, name)
		put(listenerMerged, float64(h.Merged), s.Name, name)
		put(listenerPanics, float64(h.Panics), s.Name, name)
		put(listenerBlocked, h.Blocked.Seconds(), s.Name, name)
		put(listenerStalled, w.stalled(h, now).Seconds(), s.Name, name)
	}
}

// named returns the handlers by names that differ: two of the same name would be the same metric.
func (w *watchedInformer) named(handlers []informer.HandlerSnapshot) map[string]informer.HandlerSnapshot {
	names := make(map[string]informer.HandlerSnapshot, len(handlers))
	there := make(map[uint64]bool, len(handlers))
	for _, h := range handlers {
		there[h.ID] = true
		name := h.Handler
		if _, taken := names[name]; taken {
			name += " " + strconv.FormatUint(h.ID, 10)
		}
		names[name] = h
	}
	for id := range w.stalls {
		if !there[id] {
			delete(w.stalls, id) // removed
		}
	}
	return names
}

// stalled is for how long the handler has been seen with events and the same number of callbacks behind it.
func (w *watchedInformer) stalled(h informer.HandlerSnapshot, now time.Time) time.Duration {
	last, seen := w.stalls[h.ID]
	if h.Pending == 0 {
		delete(w.stalls, h.ID)
		return 0
	}
	if !seen || last.handled != h.Handled {
		w.stalls[h.ID] = stall{handled: h.Handled, since: now}
		return 0
	}
	return now.Sub(last.since)
}

// shortVersion is a resourceVersion as Kubernetes' metric has it: its last 15 digits, which a float can hold. It has no
// value for one that is no number.
func shortVersion(version string) (float64, bool) {
	const digits = 15
	number, err := strconv.ParseUint(version[max(0, len(version)-digits):], 10, 64)
	return float64(number), err == nil
}

func boolean(value bool) float64 {
	if value {
		return 1
	}
	return 0
}
