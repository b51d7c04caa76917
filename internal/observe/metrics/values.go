package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// values holds the values of metrics, in a registry of Prometheus' library.
type values struct {
	registry *prometheus.Registry

	mu       sync.Mutex
	families map[*Definition]prometheus.Collector // guarded by mu; by their first use
}

func newValues() *values {
	return &values{registry: prometheus.NewRegistry(), families: map[*Definition]prometheus.Collector{}}
}

// counter, gauge and histogram return the value of a metric for these labels, and create it if
// needed. They lock and allocate; code that runs for each event of a queue keeps the result.
func (v *values) counter(d *Definition, labels ...string) prometheus.Counter {
	return family(v, d, func() *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
	}).WithLabelValues(labels...)
}

func (v *values) gauge(d *Definition, labels ...string) prometheus.Gauge {
	return family(v, d, func() *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.Help}, d.Labels)
	}).WithLabelValues(labels...)
}

func (v *values) histogram(d *Definition, labels ...string) prometheus.Observer {
	return family(v, d, func() *prometheus.HistogramVec {
		options := prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.Buckets}
		return prometheus.NewHistogramVec(options, d.Labels)
	}).WithLabelValues(labels...)
}

// add adds to the value of a counter or a gauge.
func (v *values) add(d *Definition, value float64, labels ...string) {
	if d.Kind == Counter {
		v.counter(d, labels...).Add(value)
		return
	}
	v.gauge(d, labels...).Add(value)
}

func family[F prometheus.Collector](v *values, d *Definition, make func() F) F {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.families[d]; ok {
		return known.(F)
	}
	made := make()
	v.registry.MustRegister(made)
	v.families[d] = made
	return made
}
