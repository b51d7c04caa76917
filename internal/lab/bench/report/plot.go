package report

import (
	"bytes"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"orrery/internal/words"
)

func init() { plot.DefaultFont.Variant = "Sans" }

// palette are the colours of series. The first four are distinct with any colour vision and differ
// in brightness (blue and vermillion are from Okabe and Ito).
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	color.RGBA{0x1f, 0x51, 0x30, 0xff}, // green
	color.RGBA{0x8f, 0x45, 0xe0, 0xff}, // violet
	color.RGBA{0x8a, 0x6d, 0x00, 0xff}, // yellow
	color.RGBA{0x6b, 0x75, 0x80, 0xff}, // gray
}

// glyph returns the mark of a series.
func glyph(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: palette[i%len(palette)], Radius: 3.5, Shape: plotutil.Shape(i)}
}

// Axis is an axis of a plot.
type Axis struct {
	// Title is the measured quantity: "time of an operation". It may be empty.
	Title string
	// Unit is the unit of the values. Labels use its prefixes (µs, M/s, MiB).
	Unit string
	// Log makes the axis logarithmic.
	Log bool
	// Ticks are the labels. Empty: round numbers.
	Ticks []plot.Tick
}

// Value is a number and its spread.
type Value struct {
	// At is the number: a median. NaN is omitted.
	At float64
	// Low and High are the ends of the error bar; both 0 is none.
	Low, High float64
}

// Point is a point of a series.
type Point struct {
	X float64
	Y Value
}

// Series is a named row of points.
type Series struct {
	Name   string
	Points []Point
}

// Lines are curves: one number over another.
type Lines struct {
	// Title is the headline; Caption, below it, explains the picture.
	Title, Caption string
	// X and Y are the axes. A linear Y begins at zero.
	X, Y Axis
	// Series are the curves, in the order of the legend. A single one has no legend.
	Series []Series
}

// SVG draws the curves.
func (l Lines) SVG() []byte {
	p := newPlot(l.Title, l.Caption)
	p.Add(plotter.NewGrid())
	var xs, ys []float64
	for i, series := range l.Series {
		all := numbers(series.Points)
		for _, point := range all {
			xs, ys = append(xs, point.X), append(ys, point.Y.extent()...)
		}
		if len(all) == 0 {
			continue
		}
		line := &plotter.Line{XYs: xys(all), LineStyle: plotter.DefaultLineStyle}
		line.Color, line.Width = palette[i%len(palette)], 1.5
		scatter := &plotter.Scatter{XYs: xys(all), GlyphStyle: glyph(i)}
		p.Add(line, errorBars(all, line.Color), scatter)
		if len(l.Series) > 1 {
			p.Legend.Add(series.Name, line, scatter)
		}
	}
	l.X.set(&p.X, xs, false, 0)
	l.Y.set(&p.Y, ys, true, 0.07*float64(len(l.Series)))
	return svg(p, 400)
}

// Dots compare numbers: a row for each measured thing, with a dot for each series.
type Dots struct {
	// Title is the headline; Caption, below it, explains the picture.
	Title, Caption string
	// Axis is the axis of the numbers. If it is linear it begins at zero.
	Axis Axis
	// Rows are the names of the rows from top to bottom. A point's X is the index of its row.
	Rows []string
	// Series are in the order of the legend. A single one has no legend.
	Series []Series
}

// SVG draws the dots.
func (d Dots) SVG() []byte {
	p := newPlot(d.Title, d.Caption)
	grid := plotter.NewGrid()
	grid.Horizontal.Color = nil
	p.Add(grid)
	var values []float64
	for i, series := range d.Series {
		var marks []Point
		for _, point := range numbers(series.Points) {
			row := float64(len(d.Rows)-1) - point.X + 0.5*(0.5-(float64(i)+0.5)/float64(len(d.Series)))
			marks = append(marks, Point{X: row, Y: point.Y})
			values = append(values, point.Y.extent()...)
		}
		bars := errorBars(marks, glyph(i).Color)
		scatter := &plotter.Scatter{XYs: xys(marks), GlyphStyle: glyph(i)}
		for at := range scatter.XYs {
			scatter.XYs[at].X, scatter.XYs[at].Y = scatter.XYs[at].Y, scatter.XYs[at].X
			bars.XYs[at] = scatter.XYs[at]
		}
		lying := &plotter.XErrorBars{
			XYs: bars.XYs, XErrors: plotter.XErrors(bars.YErrors), LineStyle: bars.LineStyle, CapWidth: bars.CapWidth,
		}
		p.Add(lying, scatter)
		if len(d.Series) > 1 {
			p.Legend.Add(series.Name, scatter)
		}
	}
	d.Axis.set(&p.X, values, true, 0)
	if len(d.Rows) > 0 {
		names := slices.Clone(d.Rows)
		slices.Reverse(names)
		p.NominalY(names...)
	}
	p.Y.Min, p.Y.Max = -0.7, float64(len(d.Rows))-0.3+0.7*float64(len(d.Series))
	return svg(p, vg.Length(110+26*len(d.Rows)+16*len(d.Series)))
}

// numbers returns the points that can be drawn.
func numbers(points []Point) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		sum := p.X + p.Y.At
		return math.IsNaN(sum) || math.IsInf(sum, 0)
	})
}

func xys(points []Point) plotter.XYs {
	list := make(plotter.XYs, len(points))
	for i, p := range points {
		list[i] = plotter.XY{X: p.X, Y: p.Y.At}
	}
	return list
}

// errorBars returns the error bars of points.
func errorBars(points []Point, ink color.Color) *plotter.YErrorBars {
	bars := &plotter.YErrorBars{XYs: xys(points), YErrors: make(plotter.YErrors, len(points)), CapWidth: 6}
	bars.LineStyle = draw.LineStyle{Color: ink, Width: 1}
	for i, p := range points {
		if ends := p.Y.extent(); len(ends) > 1 {
			bars.YErrors[i].Low, bars.YErrors[i].High = p.Y.At-p.Y.Low, p.Y.High-p.Y.At
		}
	}
	return bars
}

// extent returns the numbers that an axis must include.
func (v Value) extent() []float64 {
	if v.Low == 0 && v.High == 0 {
		return []float64{v.At}
	}
	return []float64{v.At, v.Low, v.High}
}

// set sets title, range and ticks of an axis to show the values. If zero is set, a linear axis
// begins at zero. room is the part of the axis that stays free at its end, for the legend.
func (a Axis) set(axis *plot.Axis, values []float64, zero bool, room float64) {
	axis.Label.Text = a.Title
	if len(values) == 0 {
		return
	}
	low, high := slices.Min(values), slices.Max(values)
	var ticker plot.Ticker = plot.DefaultTicks{}
	if a.Log && low > 0 {
		axis.Scale, ticker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		if len(a.Ticks) == 0 {
			low, high = math.Pow10(int(math.Floor(math.Log10(low)))), math.Pow10(int(math.Ceil(math.Log10(high))))
		}
		high *= math.Pow(high/low, room)
	} else {
		if zero {
			low, high = min(low, 0), max(high, 0)
		}
		high += room * (high - low)
	}
	if low == high {
		low, high = low-math.Abs(low)/2, high+max(math.Abs(high)/2, 1)
	}
	axis.Min, axis.Max = low, high
	axis.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		if len(a.Ticks) > 0 {
			return a.Ticks
		}
		ticks := ticker.Ticks(low, high)
		for i, tick := range ticks {
			switch {
			case tick.Label == "":
			case tick.Value == 0:
				ticks[i].Label = "0"
			default:
				ticks[i].Label = Human(tick.Value, a.Unit)
			}
		}
		return ticks
	})
}

func newPlot(title, caption string) *plot.Plot {
	p := plot.New()
	lines := append(words.Wrap(title, 90), words.Wrap(caption, 100)...)
	p.Title.Text = strings.TrimSpace(strings.Join(lines, "\n"))
	p.Title.Padding = 6
	p.Legend.Top, p.Legend.Left, p.Legend.ThumbnailWidth = true, true, 24
	return p
}

// svg draws a plot. Browsers without its font take another one without serifs.
func svg(p *plot.Plot, height vg.Length) []byte {
	var out bytes.Buffer
	canvas, err := p.WriterTo(720, height, "svg")
	if err == nil {
		_, err = canvas.WriteTo(&out)
	}
	if err != nil {
		panic(err) // cannot fail: the format is known and a buffer takes everything
	}
	fonts := []byte("Liberation Sans,Arial,Helvetica,sans-serif")
	return bytes.ReplaceAll(out.Bytes(), []byte("Liberation Sans"), fonts)
}
