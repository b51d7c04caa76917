package metrics

import "orrery/internal/observe/metrics/exposition"

// Kind is what a metric does over time.
type Kind = exposition.Kind

// The kinds of metrics.
const (
	Counter   = exposition.CounterKind
	Gauge     = exposition.GaugeKind
	Histogram = exposition.HistogramKind
)

// Definition is what there is to know about a metric before it has a value.
type Definition struct {
	Name string
	Kind Kind
	// Labels tell the values of the metric apart. None ever holds the name of a namespace or of an object.
	Labels []string
	// Buckets are the upper bounds of a histogram.
	Buckets []float64
	// Help is the sentence that a scraper shows.
	Help string
	// Kubernetes: name, labels, unit and buckets are those of Kubernetes components.
	Kubernetes bool
}

func (d *Definition) desc() exposition.Desc {
	return exposition.Desc{Name: d.Name, Kind: d.Kind, Help: d.Help, Labels: d.Labels, Buckets: d.Buckets}
}
