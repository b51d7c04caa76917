package exposition

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Kind is the type of a metric.
type Kind string

// The supported kinds.
const (
	CounterKind   Kind = "counter"   // never decreases while the process runs
	GaugeKind     Kind = "gauge"     // the current value
	HistogramKind Kind = "histogram" // counts observations by size
)

// Desc describes a family.
type Desc struct {
	Name string
	Kind Kind
	Help string
	// Labels are the names of the labels.
	Labels []string
	// Buckets are the upper bounds of a histogram's buckets, ascending, without infinity.
	Buckets []float64
}

// Vec is a family with one value for each set of label values.
type Vec[M any] struct {
	desc  Desc
	make  func() *M
	write func(*encoder, Desc, []string, *M)

	mu       sync.RWMutex
	children map[string]child[M] // guarded by mu; by the joined label values
}

type child[M any] struct {
	labels []string
	metric *M
}

// With returns the value for these label values, which are in the order of the labels, and creates
// it if needed. It locks and allocates; callers that count often keep the result.
func (v *Vec[M]) With(labels ...string) *M {
	v.desc.mustFit(labels)
	key := strings.Join(labels, "\xff") // a byte that UTF-8 does not use
	v.mu.RLock()
	known, ok := v.children[key]
	v.mu.RUnlock()
	if ok {
		return known.metric
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok = v.children[key]; !ok {
		known = child[M]{labels: slices.Clone(labels), metric: v.make()}
		v.children[key] = known
	}
	return known.metric
}

func (d *Desc) mustFit(labels []string) {
	if len(labels) != len(d.Labels) {
		panic(fmt.Sprintf("exposition: %s has the labels %q, not %d", d.Name, d.Labels, len(labels)))
	}
}

func (v *Vec[M]) expose(e *encoder) {
	v.mu.RLock()
	children := maps.Clone(v.children)
	v.mu.RUnlock()
	if len(children) == 0 {
		return
	}
	byLabels := func(a, b string) int { return slices.Compare(children[a].labels, children[b].labels) }
	e.head(v.desc)
	for _, key := range slices.SortedFunc(maps.Keys(children), byLabels) {
		v.write(e, v.desc, children[key].labels, children[key].metric)
	}
}
