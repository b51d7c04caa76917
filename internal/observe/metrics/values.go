package metrics

import (
	"strings"
	"sync"

	"orrery/internal/observe/metrics/exposition"
)

// onGather holds the functions to call before the metrics are read.
type onGather struct {
	mu      sync.Mutex
	updates []func() // guarded by mu; only ever appended to
}

func (o *onGather) add(update func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.updates = append(o.updates, update)
}

func (o *onGather) run() {
	o.mu.Lock()
	updates := o.updates
	o.mu.Unlock()
	for _, update := range updates {
		update()
	}
}

// sum is a metric whose values are read from functions when the metric is. Those of functions with
// the same labels are added up.
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

// declare gives the metric the value 0 for these labels until a function is added.
func (s *sum) declare(labels ...string) { s.add(func() float64 { return 0 }, labels...) }

func (s *sum) collect(put func(value float64, labels ...string)) {
	s.mu.Lock()
	parts := s.parts
	s.mu.Unlock()
	totals := map[string]float64{}
	for _, p := range parts {
		totals[strings.Join(p.labels, "\xff")] += p.value()
	}
	for _, p := range parts {
		key := strings.Join(p.labels, "\xff")
		if total, left := totals[key]; left {
			put(total, p.labels...)
			delete(totals, key)
		}
	}
}

// children caches the values of one metric by a comparable key. Looking one up by its labels
// allocates, which is too much for each request.
type children[K comparable, M any] struct {
	make func(K) M

	mu    sync.RWMutex
	known map[K]M // guarded by mu
}

func newChildren[K comparable, M any](make func(K) M) *children[K, M] {
	return &children[K, M]{make: make, known: map[K]M{}}
}

func (c *children[K, M]) of(key K) M {
	c.mu.RLock()
	child, ok := c.known[key]
	c.mu.RUnlock()
	if ok {
		return child
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if child, ok = c.known[key]; !ok {
		child = c.make(key)
		c.known[key] = child
	}
	return child
}
