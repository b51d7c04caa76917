package exposition

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Vec is a family that has a value of its own for each set of label values.
type Vec[M any] struct {
	desc  Desc
	make  func() *M
	write func(*encoder, Desc, []string, *M)

	mu       sync.RWMutex
	children map[string]child[M] // guarded by mu; the key is made of the label values
}

type child[M any] struct {
	labels []string
	metric *M
}

// With returns the value of the family for these label values, which are in the order of the labels. It is made if there
// is none, and stays. It takes a lock and allocates: whoever counts often keeps what it returns.
func (v *Vec[M]) With(labels ...string) *M {
	v.desc.mustFit(labels)
	key := strings.Join(labels, "\xff") // which is in no UTF-8
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
	children := make([]child[M], 0, len(v.children))
	for _, c := range v.children {
		children = append(children, c)
	}
	v.mu.RUnlock()
	if len(children) == 0 {
		return
	}
	slices.SortFunc(children, func(a, b child[M]) int { return slices.Compare(a.labels, b.labels) })
	e.head(v.desc)
	for _, c := range children {
		v.write(e, v.desc, c.labels, c.metric)
	}
}
