package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Metrics is a registry, and the adapters that fill it. Its methods may be called from any goroutine.
type Metrics struct {
	registry *prometheus.Registry
	before   onGather

	queues     queues
	requests   requests
	elections  elections
	informers  *informers
	reflectors reflectors
	namespaces namespaces
	notices    notices
}

// New returns metrics that say what version is running.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.queues = newQueues(m.registry)
	m.requests = newRequests(m.registry)
	m.elections = newElections(m.registry)
	m.informers = newInformers(m.registry)
	m.reflectors = newReflectors(m.registry)
	m.namespaces = newNamespaces(m.registry)
	m.notices = newNotices(m.registry)

	build := register(m.registry, buildInfo.gauges())
	build.WithLabelValues(version, runtime.Version()).Set(1)
	//lint:ignore SA1019 the package that they have moved to links database/sql
	m.registry.MustRegister(prometheus.NewGoCollector())
	//lint:ignore SA1019 the same
	m.registry.MustRegister(prometheus.NewProcessCollector(prometheus.ProcessCollectorOpts{}))
	return m
}

func register[C prometheus.Collector](registry *prometheus.Registry, c C) C {
	registry.MustRegister(c)
	return c
}

// Gather reads all metrics. It is prometheus.Gatherer.
func (m *Metrics) Gather() ([]*dto.MetricFamily, error) {
	m.before.run()
	return m.registry.Gather()
}

// BeforeGather has update called before the metrics are read, on the goroutine that reads them, for gauges that are set
// by others, such as those of a queue.
func (m *Metrics) BeforeGather(update func()) { m.before.add(update) }
