package exposition

// Kind is what a metric does over time.
type Kind string

// The kinds of metrics that Prometheus knows and this package has.
const (
	CounterKind   Kind = "counter"   // only rises, until the process starts again
	GaugeKind     Kind = "gauge"     // how things are
	HistogramKind Kind = "histogram" // counts observations by size
)

// Desc is what there is to know about a family before it has a value.
type Desc struct {
	Name string
	Kind Kind
	Help string
	// Labels are the names of the labels.
	Labels []string
	// Buckets are the upper bounds of a histogram's buckets, rising; the last one, infinity, is not among them.
	Buckets []float64
}
