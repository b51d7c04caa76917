package plot

import (
	"math"
	"slices"

	"gonum.org/v1/plot"

	"orrery/internal/lab/bench"
)

// Percentiles draws latency histograms as HdrHistogram does: each further 9 of the percentile has
// the same width, so the tail is visible.
type Percentiles struct {
	// Title is the headline; Caption, below it, explains the picture. Both are wrapped.
	Title, Caption string
	// Series are the histograms, in the order of the legend. A single one has no legend.
	Series []Distribution
}

// Distribution is one histogram.
type Distribution struct {
	Name    string
	Latency *bench.Histogram
}

// percentileTicks are the ticks of the horizontal axis, as fractions.
var percentileTicks = []struct {
	q     float64
	label string
}{
	{0, "0%"}, {0.5, "50%"}, {0.9, "90%"}, {0.99, "99%"}, {0.999, "99.9%"}, {0.9999, "99.99%"}, {0.99999, "99.999%"}, {0.999999, "99.9999%"},
}

// SVG draws the percentiles.
func (p Percentiles) SVG() []byte {
	s := sheet{title: p.Title, caption: p.Caption, height: plotHeight}
	var curves []Series
	var values []float64
	reach := 100.0
	for i, d := range p.Series {
		if len(p.Series) > 1 {
			s.legend = append(s.legend, lineEntry(d.Name, i))
		}
		curves = append(curves, Series{Name: d.Name, Points: curveOf(d.Latency)})
		for _, point := range curves[i].Points {
			values = append(values, point.Y.At)
			reach = max(reach, point.X)
		}
	}
	if len(values) > 0 {
		s.plot = newPlot()
		s.plot.X.Label.Text = "percentile: the share that took at most this long"
		s.plot.X.Min, s.plot.X.Max, s.plot.X.Scale = 1, min(reach, mostOf), plot.LogScale{}
		s.plot.X.Tick.Marker = plot.TickerFunc(percentileMarks)
		axis := Axis{Title: "latency", Unit: bench.Nanoseconds}
		if low, high, _, _ := extent(values); high > 30*low {
			axis.Scale = Log10
		}
		axis.set(&s.plot.Y, values, true)
		s.plot.Add(grid())
		for i, c := range curves {
			addCurve(s.plot, i, c, isPercentileTick)
		}
	}
	return s.svg()
}

// mostOf is the maximum of the horizontal axis: one value in a million is slower.
const mostOf = 1e6

// percentileMarks returns the ticks of an axis of 1/(1-q), up to the number of values.
func percentileMarks(_, high float64) []plot.Tick {
	var list []plot.Tick
	for _, tick := range percentileTicks {
		if at := 1 / (1 - tick.q); at <= high*(1+1e-6) {
			list = append(list, plot.Tick{Value: at, Label: tick.label})
		}
	}
	return list
}

// curveOf returns the percentiles of a histogram in steps of an eighth of an octave, as far as it
// has values. Ticks are among the points, to be marked.
func curveOf(h *bench.Histogram) []Point {
	if h == nil || h.Count() == 0 {
		return nil
	}
	count := float64(h.Count())
	var places []float64
	for step := 1.0; step <= 8*math.Log2(mostOf); step++ {
		places = append(places, math.Exp2(step/8))
	}
	for _, tick := range percentileTicks[1:] {
		places = append(places, 1/(1-tick.q))
	}
	places = append(places, max(count, 2))
	slices.Sort(places)
	places = slices.CompactFunc(places, func(a, b float64) bool { return math.Abs(a-b) < a*1e-9 })
	var points []Point
	for _, at := range places {
		if at <= min(max(count, 2), mostOf*(1+1e-6)) {
			points = append(points, Point{X: at, Y: Value{At: float64(h.Quantile(1 - 1/at))}})
		}
	}
	if count <= mostOf {
		points[len(points)-1].Y.At = float64(h.Max())
	}
	return points
}

func isPercentileTick(p Point) bool {
	for _, tick := range percentileTicks {
		if math.Abs(p.X*(1-tick.q)-1) < 1e-9 {
			return true
		}
	}
	return false
}
