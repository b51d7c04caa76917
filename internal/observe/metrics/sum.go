package metrics

import (
	"sync"

	"orrery/internal/observe/metrics/exposition"
)

// sum is a metric whose value others know: it asks them when it is read. With labels it has a value for each set of them.
type sum struct {
	mu    sync.Mutex
	parts []part // guarded by mu; only ever appended to
}

type part struct {
	labels []string
	value  func() float64
}

func newSum(registry *exposition.Registry, definition *Definition) *sum {
	s := &sum{}
	registry.Func(definition.desc(), s.collect)
	return s
}

func (s *sum) add(value func() float64, labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, part{labels: labels, value: value})
}

func (s *sum) collect(put func(value float64, labels ...string)) {
	s.mu.Lock()
	parts := s.parts
	s.mu.Unlock()
	for _, p := range parts {
		put(p.value(), p.labels...)
	}
}
