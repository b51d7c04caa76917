package report

import (
	"math"

	"gonum.org/v1/plot"

	"orrery/internal/lab/bench"
)

// PercentilePlot draws latency histograms as HdrHistogram does: each further 9 of the percentile
// has the same width, so the tail is visible.
type PercentilePlot struct {
	// Title is the headline; Caption, below it, explains the picture.
	Title, Caption string
	// Series are the histograms, in the order of the legend. A single one has no legend.
	Series []Distribution
}

// Distribution is one histogram.
type Distribution struct {
	Name    string
	Latency *bench.Histogram
}

// SVG draws the percentiles.
func (p PercentilePlot) SVG() []byte {
	l := Lines{
		Title: p.Title, Caption: p.Caption, every: stepsPerNine,
		X: Axis{Title: "percentile: the share that took at most this long", Log: true},
		Y: Axis{Title: "latency", Unit: bench.Nanoseconds, Log: true},
	}
	most := 0.0
	for _, d := range p.Series {
		points := curveOf(d.Latency)
		l.Series = append(l.Series, Series{Name: d.Name, Points: points})
		if len(points) > 0 {
			most = max(most, points[len(points)-1].X)
		}
	}
	l.X.Ticks = []plot.Tick{{Value: 2, Label: "50%"}}
	for i, label := range []string{"90%", "99%", "99.9%", "99.99%", "99.999%", "99.9999%"} {
		if at := math.Pow10(i + 1); at <= most*1.001 {
			l.X.Ticks = append(l.X.Ticks, plot.Tick{Value: at, Label: label})
		}
	}
	return l.SVG()
}

const (
	// stepsPerNine is the number of points for each further 9, of which the last is marked.
	stepsPerNine = 20
	// mostOf is the end of the horizontal axis: one value in a million is slower.
	mostOf = 1e6
)

// curveOf returns the percentiles of a histogram over 1/(1-q), as far as it has values.
func curveOf(h *bench.Histogram) []Point {
	if h == nil || h.Count() == 0 {
		return nil
	}
	most := min(max(float64(h.Count()), 2), mostOf)
	var points []Point
	for step := 1.0; ; step++ {
		at := min(math.Pow(10, step/stepsPerNine), most)
		points = append(points, Point{X: at, Y: Value{At: float64(h.Quantile(1 - 1/at))}})
		if at == most {
			break
		}
	}
	if most < mostOf {
		points[len(points)-1].Y.At = float64(h.Max())
	}
	return points
}
