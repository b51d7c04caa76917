package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// sum is a metric whose value others know: it asks them when it is read. With labels it has a value for each set of them.
type sum struct {
	definition *Definition
	desc       *prometheus.Desc

	mu    sync.Mutex
	parts []part // guarded by mu
}

type part struct {
	labels []string
	value  func() float64
}

func newSum(definition *Definition) *sum {
	return &sum{definition: definition, desc: definition.desc()}
}

func (s *sum) add(value func() float64, labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, part{labels: labels, value: value})
}

// Describe is of prometheus.Collector.
func (s *sum) Describe(descs chan<- *prometheus.Desc) { descs <- s.desc }

// Collect is of prometheus.Collector.
func (s *sum) Collect(values chan<- prometheus.Metric) {
	s.mu.Lock()
	parts := s.parts
	s.mu.Unlock()
	kind := prometheus.GaugeValue
	if s.definition.Kind == Counter {
		kind = prometheus.CounterValue
	}
	for _, p := range parts {
		values <- prometheus.MustNewConstMetric(s.desc, kind, p.value(), p.labels...)
	}
}
