package metrics

import (
	"io"
	"runtime"

	"orrery/internal/observe/events"
	"orrery/internal/observe/metrics/exposition"
	"orrery/nsctl"
)

// Metrics is a registry with the adapters that fill it. Its methods may be called from any
// goroutine.
type Metrics struct {
	registry *exposition.Registry
	before   onGather

	informers *informers
	passes    *passes
	// Read from their owners when the metrics are.
	inProgress, oldest, passedOver, recorded, dropped *sum
}

// New returns metrics for a program of that version.
func New(version string) *Metrics {
	m := &Metrics{registry: &exposition.Registry{}}
	m.informers = newInformers(m.registry, &m.before)
	m.passes = newPasses(m.histogram(passRequests))
	m.inProgress, m.oldest = newSum(m.registry, deletionsInProgress), newSum(m.registry, oldestDeletion)
	m.passedOver = newSum(m.registry, namespacesPassedOver)
	m.recorded, m.dropped = newSum(m.registry, recordedTotal), newSum(m.registry, droppedTotal)
	registerProcess(m.registry, &m.before)
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
	for _, result := range []string{success, failure} {
		m.counter(finalizationsTotal, result)
	}
	m.recorded.declare()
	for _, why := range events.Drops() {
		m.dropped.declare(byEvents, dropLabel(why))
	}
	m.dropped.declare(byLogs, lostLine)
	return m
}

// counter, gauge and histogram return the value of a metric for these labels. They look it up by
// name; code that runs for each request caches the result, see children.
func (m *Metrics) counter(d *Definition, labels ...string) *exposition.Counter {
	return m.registry.Counters(d.desc()).With(labels...)
}

func (m *Metrics) gauge(d *Definition, labels ...string) *exposition.Gauge {
	return m.registry.Gauges(d.desc()).With(labels...)
}

func (m *Metrics) histogram(d *Definition, labels ...string) *exposition.Histogram {
	return m.registry.Histograms(d.desc()).With(labels...)
}

// ContentType is the content type of [Metrics.WriteText].
const ContentType = exposition.ContentType

// WriteText writes all metrics in Prometheus' text format. It returns the writer's error.
func (m *Metrics) WriteText(w io.Writer) error {
	m.before.run()
	return m.registry.WriteText(w)
}

// BeforeGather calls update before the metrics are read, on the goroutine that reads them. It is
// for gauges that are set elsewhere, such as those of a queue.
func (m *Metrics) BeforeGather(update func()) { m.before.add(update) }
