package plot

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines are curves: one number over another.
type Lines struct {
	// Title is the headline; Caption, below it, explains the picture. Both are wrapped.
	Title, Caption string
	// X and Y are the axes. A linear Y begins at zero.
	X, Y Axis
	// Series are the curves, in the order of the legend. A single one has no legend.
	Series []Series
}

// Series is one curve.
type Series struct {
	Name   string
	Points []Point
}

// Point is a point of a curve, with a whisker if Y has one.
type Point struct {
	X float64
	Y Value
}

// SVG draws the curves.
func (l Lines) SVG() []byte {
	s := sheet{title: l.Title, caption: l.Caption, height: plotHeight}
	var xs, ys []float64
	for i, series := range l.Series {
		if len(l.Series) > 1 {
			s.legend = append(s.legend, lineEntry(series.Name, i))
		}
		for _, p := range series.Points {
			if p.isNumber() {
				xs, ys = append(xs, p.X), append(ys, p.Y.At)
				if p.Y.whisker() {
					ys = append(ys, p.Y.Low, p.Y.High)
				}
			}
		}
	}
	if len(xs) > 0 {
		s.plot = newPlot()
		l.X.set(&s.plot.X, xs, false)
		l.Y.set(&s.plot.Y, ys, true)
		s.plot.Add(grid())
		for i, series := range l.Series {
			addCurve(s.plot, i, series, nil)
		}
	}
	return s.svg()
}

// plotHeight is the height of curves and axes.
const plotHeight = 340

func (p Point) isNumber() bool { return !math.IsNaN(p.X) && !math.IsNaN(p.Y.At) }

// lineEntry returns the entry of a curve in a legend.
func lineEntry(name string, i int) legendEntry {
	return legendEntry{name, func(c draw.Canvas, at vg.Point) {
		c.StrokeLine2(draw.LineStyle{Color: seriesColor(i), Width: 1.5}, at.X-8, at.Y, at.X+8, at.Y)
		c.DrawGlyph(glyph(i), at)
	}}
}

// glyph returns the mark of a series.
func glyph(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: seriesColor(i), Radius: 3, Shape: plotutil.Shape(i)}
}

// curve is a series for gonum. A logarithmic axis shows zero and less at its edge.
type curve struct {
	points []Point
	p      *plot.Plot
}

func (c curve) Len() int { return len(c.points) }

func (c curve) XY(i int) (x, y float64) {
	return onAxis(c.p.X, c.points[i].X), onAxis(c.p.Y, c.points[i].Y.At)
}

// YError returns the lengths of a point's whisker below and above it.
func (c curve) YError(i int) (down, up float64) {
	_, y := c.XY(i)
	v := c.points[i].Y
	return y - onAxis(c.p.Y, v.Low), onAxis(c.p.Y, v.High) - y
}

func onAxis(axis plot.Axis, v float64) float64 {
	if _, logarithmic := axis.Scale.(plot.LogScale); logarithmic {
		return max(v, axis.Min)
	}
	return v
}

// addCurve adds a series to a plot: whiskers, the line, and a mark at each point for which marked
// is nil or returns true.
func addCurve(p *plot.Plot, i int, series Series, marked func(Point) bool) {
	c, marks := curve{p: p}, curve{p: p}
	for _, point := range series.Points {
		if point.isNumber() {
			c.points = append(c.points, point)
			if marked == nil || marked(point) {
				marks.points = append(marks.points, point)
			}
		}
	}
	if len(c.points) == 0 {
		return
	}
	line, err := plotter.NewLine(c)
	if err != nil { // an infinite number
		return
	}
	line.Color, line.Width = seriesColor(i), 1.5
	p.Add(line)
	spread := curve{p: p, points: slices.DeleteFunc(slices.Clone(c.points), func(p Point) bool { return !p.Y.whisker() })}
	if whiskers, err := plotter.NewYErrorBars(spread); err == nil {
		whiskers.Color, whiskers.CapWidth = seriesColor(i), 6
		p.Add(whiskers)
	}
	if scatter, err := plotter.NewScatter(marks); err == nil {
		scatter.GlyphStyle = glyph(i)
		p.Add(scatter)
	}
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = light, light
	return g
}
