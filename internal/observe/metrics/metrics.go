package metrics

import (
	"net/http"
	"runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"orrery/controller/events"
	"orrery/nsctl"
)

// Metrics is a registry with the adapters that fill it. Its methods may be called from any
// goroutine.
type Metrics struct {
	*values // of hooks
	passes  *passes

	mu      sync.Mutex
	sources []func(putFunc) // guarded by mu; only ever appended to
}

// putFunc gives a metric a value for one scrape. Values with the same labels are added up.
type putFunc func(d *Definition, value float64, labels ...string)

// New returns metrics for a program of that version.
func New(version string) *Metrics {
	m := &Metrics{values: newValues()}
	m.passes = newPasses(m.histogram(passRequests))
	m.gauge(buildInfo, version, runtime.Version()).Set(1)

	// These exist, with 0, from the beginning: Prometheus does not see an increase that comes with
	// the first value.
	for _, d := range []*Definition{deletionsTotal, passesStuck, conflictsTotal, reportFailures, discoveryFailures} {
		m.counter(d)
	}
	m.histogram(deletionDuration)
	for _, phase := range nsctl.Phases() {
		m.histogram(deletionPhase, string(phase))
	}
	for _, result := range passResults {
		m.counter(passesTotal, result)
	}
	for _, result := range []string{"success", "failure"} {
		m.counter(finalizationsTotal, result)
	}
	m.read(func(put putFunc) {
		put(recordedTotal, 0)
		for _, why := range events.Drops() {
			put(droppedTotal, 0, byEvents, dropLabel(why))
		}
		put(droppedTotal, 0, byLogs, lostLine)
	})
	return m
}

// read adds a source, which is called at each scrape.
func (m *Metrics) read(source func(putFunc)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sources = append(m.sources, source)
}

// Handler returns the page for Prometheus: uncompressed, since scrapers are near, and for four of
// them at a time, since each answer holds a copy of all metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m, promhttp.HandlerOpts{DisableCompression: true, MaxRequestsInFlight: 4})
}

// Gather implements prometheus.Gatherer: it returns all metrics, with those that the library has of
// the process and of the Go runtime. An error means that a metric has both a hook and a source.
func (m *Metrics) Gather() ([]*dto.MetricFamily, error) {
	m.mu.Lock()
	sources := m.sources
	m.mu.Unlock()
	scraped := newValues()
	for _, source := range sources {
		source(scraped.add)
	}
	return prometheus.Gatherers{m.registry, scraped.registry, prometheus.DefaultGatherer}.Gather()
}

// BeforeGather calls update before the metrics are read, on the goroutine that reads them. It is
// for gauges that are set elsewhere, such as those of a queue.
func (m *Metrics) BeforeGather(update func()) { m.read(func(putFunc) { update() }) }
