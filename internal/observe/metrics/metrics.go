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

	queues      queues
	requests    requests
	elections   elections
	informers   *informers
	reflectors  reflectors
	namespaces  namespaces
	controllers controllers
	notices     notices
}

// New returns metrics that say what version is running.
func New(version string) *Metrics {
	m := &Metrics{registry: &exposition.Registry{}}
	m.queues = newQueues(m.registry)
	m.requests = newRequests(m.registry)
	m.elections = newElections(m.registry)
	m.informers = newInformers(m.registry, &m.before)
	m.reflectors = newReflectors(m.registry)
	m.namespaces = newNamespaces(m.registry)
	m.controllers = newControllers(m.registry)
	m.notices = newNotices(m.registry)
	registerProcess(m.registry, &m.before)
	m.registry.Gauges(buildInfo.desc()).With(version, runtime.Version()).Set(1)
	return m
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
