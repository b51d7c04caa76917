package exposition

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"sync"
)

// ContentType is the content type of the text format.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Registry is a set of families. Its zero value is empty.
type Registry struct {
	mu       sync.Mutex
	families []family // guarded by mu; sorted by name
}

type family struct {
	name   string
	values any // a *Vec; nil for Func
	expose func(*encoder)
}

// Counters returns the family of counters of that name, and creates it if needed.
func (r *Registry) Counters(desc Desc) *Vec[Counter] {
	return vecOf(r, desc, func() *Counter { return &Counter{} }, func(e *encoder, d Desc, labels []string, c *Counter) { e.sample(d, labels, c.Value()) })
}

// Gauges returns the family of gauges of that name, and creates it if needed.
func (r *Registry) Gauges(desc Desc) *Vec[Gauge] {
	return vecOf(r, desc, func() *Gauge { return &Gauge{} }, func(e *encoder, d Desc, labels []string, g *Gauge) { e.sample(d, labels, g.Value()) })
}

// Histograms returns the family of histograms of that name, and creates it if needed.
func (r *Registry) Histograms(desc Desc) *Vec[Histogram] {
	return vecOf(r, desc, func() *Histogram { return newHistogram(desc.Buckets) }, (*encoder).histogram)
}

func vecOf[M any](r *Registry, desc Desc, make func() *M, write func(*encoder, Desc, []string, *M)) *Vec[M] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, there := r.findLocked(desc.Name); there {
		if v, ok := r.families[at].values.(*Vec[M]); ok {
			return v
		}
	}
	v := &Vec[M]{desc: desc, children: map[string]child[M]{}, make: make, write: write}
	r.addLocked(desc, v, v.expose)
	return v
}

// Func registers a family of counters or gauges that is computed at each reading: collect calls put
// for each value, at most once for the same labels.
func (r *Registry) Func(desc Desc, collect func(put func(value float64, labels ...string))) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(desc, nil, func(e *encoder) {
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

func (r *Registry) addLocked(desc Desc, values any, expose func(*encoder)) {
	at, taken := r.findLocked(desc.Name)
	if taken {
		panic("exposition: there are two families of the name " + desc.Name)
	}
	r.families = slices.Insert(slices.Clone(r.families), at, family{name: desc.Name, values: values, expose: expose})
}

func (r *Registry) findLocked(name string) (at int, there bool) {
	return slices.BinarySearchFunc(r.families, name, func(f family, name string) int { return strings.Compare(f.name, name) })
}

// WriteText writes all families. It returns the writer's error.
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
