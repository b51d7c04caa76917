package report

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"

	"orrery/internal/words"
)

func init() { plot.DefaultFont.Variant = "Sans" }

// Picture shows curves: one number over another.
type Picture struct {
	// Title is the headline; Caption, below it, explains the picture.
	Title, Caption string
	// X and Y say what the axes show. Unit is that of Y: labels use its prefixes (µs, M/s, MiB).
	X, Y, Unit string
	// LogX and LogY make an axis logarithmic if its values are positive. A linear Y begins at zero.
	LogX, LogY bool
	// Ticks are the labels of X.
	Ticks  []plot.Tick
	curves []curve
}

// Point is a point of a curve. Low and High are the ends of its error bar.
type Point struct{ X, Y, Low, High float64 }

// curve is a named row of points.
type curve struct {
	name   string
	points points
}

type points []Point

func (p points) Len() int                            { return len(p) }
func (p points) XY(i int) (x, y float64)             { return p[i].X, p[i].Y }
func (p points) YError(i int) (below, above float64) { return p[i].Y - p[i].Low, p[i].High - p[i].Y }

// Add adds a point to the curve with a name. A point that is not a number is left out.
func (p *Picture) Add(name string, at Point) {
	if sum := at.X + at.Y; math.IsNaN(sum) || math.IsInf(sum, 0) {
		return
	}
	i := slices.IndexFunc(p.curves, func(c curve) bool { return c.name == name })
	if i < 0 {
		i, p.curves = len(p.curves), append(p.curves, curve{name: name})
	}
	p.curves[i].points = append(p.curves[i].points, at)
}

// SVG draws the picture. A single curve has no legend. Browsers without the font take another one
// without serifs.
func (p *Picture) SVG() ([]byte, error) {
	drawn := plot.New()
	lines := append(words.Wrap(p.Title, 90), words.Wrap(p.Caption, 100)...)
	drawn.Title.Text = strings.TrimSpace(strings.Join(lines, "\n"))
	drawn.Title.Padding = 6
	drawn.Legend.Top, drawn.Legend.Left, drawn.Legend.ThumbnailWidth = true, true, 24
	drawn.X.Label.Text, drawn.Y.Label.Text = p.X, p.Y
	drawn.Add(plotter.NewGrid())
	for i, c := range p.curves {
		slices.SortStableFunc(c.points, func(a, b Point) int { return int(math.Copysign(1, a.X-b.X)) })
		line, marks, err := plotter.NewLinePoints(c.points)
		if err != nil {
			return nil, err
		}
		bars, err := plotter.NewYErrorBars(c.points)
		if err != nil {
			return nil, err
		}
		colour := plotutil.Color(i)
		line.Color, marks.Color, bars.Color = colour, colour, colour
		marks.Shape = plotutil.Shape(i)
		drawn.Add(line, marks, bars)
		if len(p.curves) > 1 {
			drawn.Legend.Add(c.name, line, marks)
		}
	}
	drawn.X.Tick.Marker = plot.ConstantTicks(p.Ticks)
	if p.LogX && drawn.X.Min > 0 {
		drawn.X.Scale = plot.LogScale{}
	}
	var ticks plot.Ticker = plot.DefaultTicks{}
	if p.LogY && drawn.Y.Min > 0 {
		drawn.Y.Scale, ticks = plot.LogScale{}, plot.LogTicks{Prec: -1}
	} else {
		drawn.Y.Min = min(drawn.Y.Min, 0)
	}
	drawn.Y.Tick.Marker = p.scaled(ticks)
	var out bytes.Buffer
	canvas, err := drawn.WriterTo(720, 400, "svg")
	if err == nil {
		_, err = canvas.WriteTo(&out)
	}
	fonts := []byte("Liberation Sans,Arial,Helvetica,sans-serif")
	return bytes.ReplaceAll(out.Bytes(), []byte("Liberation Sans"), fonts), err
}

// scaled gives the labels of Y their unit.
func (p *Picture) scaled(ticker plot.Ticker) plot.TickerFunc {
	return func(low, high float64) []plot.Tick {
		ticks := ticker.Ticks(low, high)
		for i, tick := range ticks {
			if tick.Label != "" {
				ticks[i].Label = Human(tick.Value, p.Unit)
			}
		}
		return ticks
	}
}
