package metrics

import (
	"maps"
	"sync"
	"time"

	"orrery/deltafifo"
	"orrery/informer"
)

// InformerID holds the labels of an informer in Kubernetes' metrics.
type InformerID struct {
	Name                     string // of the program or of the part of it that the informer belongs to
	Group, Version, Resource string
}

func (id InformerID) labels() []string { return []string{id.Name, id.Group, id.Version, id.Resource} }

// watchedInformer is one informer.
type watchedInformer struct {
	id       InformerID
	snapshot func() informer.Snapshot

	mu     sync.Mutex
	stalls map[uint64]stall // guarded by mu; by the handlers' IDs
}

// stall is the state of a handler at the last reading.
type stall struct {
	handled uint64
	since   time.Time // when handled was first seen
}

// Informer adds an informer. Its metrics are read from one snapshot at each scrape, at no cost for
// events.
func (m *Metrics) Informer(id InformerID, snapshot func() informer.Snapshot) {
	w := &watchedInformer{id: id, snapshot: snapshot, stalls: map[uint64]stall{}}
	m.read(w.read)
}

// FIFO returns hooks for the DeltaFIFO of one informer, which has one consumer.
func FIFO[T any](m *Metrics, id InformerID) *deltafifo.Trace[T] {
	latency := m.histogram(informerProcessing, id.labels()...)
	var popped time.Time // belongs to the consumer
	return &deltafifo.Trace[T]{
		Popped:    func(string, deltafifo.Deltas[T], bool, int) { popped = time.Now() },
		Processed: func(string, deltafifo.Deltas[T], error) { latency.Observe(time.Since(popped).Seconds()) },
	}
}

func (w *watchedInformer) read(put putFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.snapshot()
	put(informerQueued, float64(s.Queued), w.id.labels()...)
	put(informerObjects, float64(s.Objects), s.Name)
	put(informerSynced, boolean(s.HasSynced), s.Name)
	put(informerErrors, float64(s.ProcessErrors), s.Name)

	put(reflectorLists, float64(s.Reflector.Lists), s.Name)
	put(reflectorWatches, float64(s.Reflector.Watches), s.Name)
	put(reflectorEvents, float64(s.Reflector.Events), s.Name)
	put(reflectorFailures, float64(s.Reflector.Failures), s.Name)

	now := time.Now()
	there := map[uint64]bool{}
	stalled, peak := map[string]float64{}, map[string]float64{}
	for _, h := range s.Handlers { // of those with one name, counts are added up, and the worst is shown
		there[h.ID] = true
		put(listenerBacklog, float64(h.Pending), s.Name, h.Handler)
		peak[h.Handler] = max(peak[h.Handler], float64(h.PeakPending))
		put(listenerHandled, float64(h.Handled), s.Name, h.Handler)
		put(listenerPanics, float64(h.Panics), s.Name, h.Handler)
		stalled[h.Handler] = max(stalled[h.Handler], w.stalled(h, now).Seconds())
	}
	for name, seconds := range stalled {
		put(listenerStalled, seconds, s.Name, name)
		put(listenerPeak, peak[name], s.Name, name)
	}
	maps.DeleteFunc(w.stalls, func(id uint64, _ stall) bool { return !there[id] }) // those that were removed
}

// stalled returns for how long the handler has been seen with events and the same number of
// finished callbacks.
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

func boolean(value bool) float64 {
	if value {
		return 1
	}
	return 0
}
