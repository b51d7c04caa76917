package exposition

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"sync"
)

// ContentType is that of the text format.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Registry is a set of families. Its zero value is empty.
type Registry struct {
	mu       sync.Mutex
	families []family // guarded by mu; sorted by name
}

type family struct {
	name   string
	expose func(*encoder)
}

// Counters registers a family of counters.
func (r *Registry) Counters(desc Desc) *Vec[Counter] {
	v := &Vec[Counter]{desc: desc, children: map[string]child[Counter]{},
		make:  func() *Counter { return &Counter{} },
		write: func(e *encoder, d Desc, labels []string, c *Counter) { e.sample(d, labels, c.Value()) }}
	r.add(desc, v.expose)
	return v
}

// Gauges registers a family of gauges.
func (r *Registry) Gauges(desc Desc) *Vec[Gauge] {
	v := &Vec[Gauge]{desc: desc, children: map[string]child[Gauge]{},
		make:  func() *Gauge { return &Gauge{} },
		write: func(e *encoder, d Desc, labels []string, g *Gauge) { e.sample(d, labels, g.Value()) }}
	r.add(desc, v.expose)
	return v
}

// Histograms registers a family of histograms.
func (r *Registry) Histograms(desc Desc) *Vec[Histogram] {
	v := &Vec[Histogram]{desc: desc, children: map[string]child[Histogram]{},
		make:  func() *Histogram { return newHistogram(desc.Buckets) },
		write: func(e *encoder, d Desc, labels []string, h *Histogram) { e.histogram(d, labels, h) }}
	r.add(desc, v.expose)
	return v
}

// Func registers a family of counters or gauges whose values somebody else has: collect is called with each reading, and
// calls put for each value. If it puts two with the same labels, a scraper refuses both.
func (r *Registry) Func(desc Desc, collect func(put func(value float64, labels ...string))) {
	r.add(desc, func(e *encoder) {
		first := true
		collect(func(value float64, labels ...string) {
			desc.mustFit(labels)
			if first {
				e.head(desc)
				first = false
			}
			e.sample(desc, labels, value)
		})
	})
}

func (r *Registry) add(desc Desc, expose func(*encoder)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, taken := slices.BinarySearchFunc(r.families, desc.Name, func(f family, name string) int { return strings.Compare(f.name, name) })
	if taken {
		panic("exposition: there are two families of the name " + desc.Name)
	}
	r.families = slices.Insert(slices.Clone(r.families), at, family{name: desc.Name, expose: expose})
}

// WriteText writes all families. Its error is the writer's.
func (r *Registry) WriteText(w io.Writer) error {
	r.mu.Lock()
	families := r.families
	r.mu.Unlock()
	e := &encoder{out: bufio.NewWriter(w)}
	for _, f := range families {
		f.expose(e)
	}
	return e.out.Flush()
}
