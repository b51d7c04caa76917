package metrics

import "github.com/prometheus/client_golang/prometheus"

// Kind is what a metric does over time.
type Kind string

const (
	Counter   Kind = "counter"   // only rises, until the process starts again
	Gauge     Kind = "gauge"     // how things are
	Histogram Kind = "histogram" // counts observations by size
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

// desc is the definition as Prometheus has it.
func (d *Definition) desc() *prometheus.Desc {
	return prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
}

func (d *Definition) counters() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
}

func (d *Definition) gauges() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.Help}, d.Labels)
}

func (d *Definition) histograms() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.Buckets}, d.Labels)
}
