package metrics

import (
	"io"
	"runtime"

	"orrery/internal/observe/metrics/exposition"
)

// Metrics is a registry, and the adapters that fill it. Its methods may be called from any goroutine.
type Metrics struct {
	registry *exposition.Registry
	before   onGather

	informers *informers
	passes    *passes
	// What others know, and are asked for when the metrics are read.
	inProgress, recorded, dropped *sum
}

// New returns metrics that say what version is running.
func New(version string) *Metrics {
	m := &Metrics{registry: &exposition.Registry{}}
	m.informers = newInformers(m.registry, &m.before)
	m.passes = newPasses(m.histogram(passRequests))
	m.inProgress, m.recorded, m.dropped = newSum(m.registry, deletionsInProgress), newSum(m.registry, recordedTotal), newSum(m.registry, droppedTotal)
	registerProcess(m.registry, &m.before)
	m.gauge(buildInfo, version, runtime.Version()).Set(1)

	// These are there, with 0, from the beginning.
	for _, d := range []*Definition{deletionsTotal, passesStuck, conflictsTotal, reportFailures, discoveryFailures} {
		m.counter(d)
	}
	m.histogram(deletionDuration)
	for _, result := range passResults {
		m.counter(passesTotal, result)
	}
	for _, result := range []string{success, failure} {
		m.counter(finalizationsTotal, result)
	}
	return m
}

// counter, gauge and histogram return the value of a metric for these labels. They look it up by name: what happens with each
// request keeps what they return, see children.
func (m *Metrics) counter(d *Definition, labels ...string) *exposition.Counter {
	return m.registry.Counters(d.desc()).With(labels...)
}

func (m *Metrics) gauge(d *Definition, labels ...string) *exposition.Gauge {
	return m.registry.Gauges(d.desc()).With(labels...)
}

func (m *Metrics) histogram(d *Definition, labels ...string) *exposition.Histogram {
	return m.registry.Histograms(d.desc()).With(labels...)
}

// ContentType is that of what [Metrics.WriteText] writes.
const ContentType = exposition.ContentType

// WriteText reads all metrics and writes them in Prometheus' text format. Its error is the writer's.
func (m *Metrics) WriteText(w io.Writer) error {
	m.before.run()
	return m.registry.WriteText(w)
}

// BeforeGather has update called before the metrics are read, on the goroutine that reads them, for gauges that are set
// by others, such as those of a queue.
func (m *Metrics) BeforeGather(update func()) { m.before.add(update) }
