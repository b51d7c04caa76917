package plot

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars are horizontal bars in groups: a group for each measured thing, with a bar for each series.
type Bars struct {
	// Title is the headline; Caption, below it, explains the picture. Both are wrapped.
	Title, Caption string
	// Axis is the axis of the bars.
	Axis Axis
	// Series are the names in the legend. A single series has no legend.
	Series []string
	// Groups from top to bottom.
	Groups []Group
	// From is where bars begin: 1 suits ratios on a logarithmic axis, with smaller values to the
	// left and larger ones to the right. The zero value is 0, or the left end of a logarithmic
	// axis.
	From float64
	// Target is the name of Group.Target in the legend; empty means "target".
	Target string
}

// Group is one measured thing.
type Group struct {
	// Name stands to the left of the bars and is wrapped.
	Name string
	// Values are in the order of Bars.Series. A group may have fewer.
	Values []Value
	// Target is marked by a line across the group; 0 is none.
	Target float64
}

// Value is a number and its spread.
type Value struct {
	// At is the number: a median. NaN is omitted.
	At float64
	// Low and High are the ends of the whisker; both 0 is none.
	Low, High float64
	// Label is written at the end of the bar; empty means At with its unit. Lines have no labels.
	Label string
}

// whisker reports whether the value has a whisker.
func (v Value) whisker() bool { return v.Low != 0 || v.High != 0 }

// The measures of bars. A row is the height of a bar and the gap below it.
const (
	barHeight  = 14
	rowHeight  = 17
	groupGap   = 0.8 // rows
	widestName = 230
)

// SVG draws the bars.
func (b Bars) SVG() []byte {
	s := sheet{title: b.Title, caption: b.Caption}
	if len(b.Series) > 1 {
		for i, name := range b.Series {
			s.legend = append(s.legend, legendEntry{name, func(c draw.Canvas, at vg.Point) { fillBox(c, seriesColor(i), at.X-6, at.Y-5, at.X+6, at.Y+5) }})
		}
	}
	if slices.ContainsFunc(b.Groups, func(g Group) bool { return g.Target != 0 }) {
		s.legend = append(s.legend, legendEntry{cmp.Or(b.Target, "target"), func(c draw.Canvas, at vg.Point) { c.StrokeLine2(targetLine, at.X, at.Y-7, at.X, at.Y+7) }})
	}
	values := b.values()
	if _, _, _, ok := extent(values); !ok {
		return sheet{title: b.Title, caption: b.Caption}.svg()
	}
	s.plot = newPlot()
	b.Axis.set(&s.plot.X, values, b.From == 0)
	b.makeRoom(&s.plot.X)
	rows := &barRows{Bars: b}
	var names []plot.Tick
	style := s.plot.Y.Tick.Label
	style.Color = color.Black
	for i := len(b.Groups) - 1; i >= 0; i-- { // the first on top
		group := b.Groups[i]
		lines := wrap(style, group.Name, widestName)
		height := max(float64(group.bars()), 0.8*float64(len(lines)))
		rows.begin = append([]float64{rows.height + groupGap/2 + (height+float64(group.bars()))/2}, rows.begin...)
		names = append(names, plot.Tick{Value: rows.height + groupGap/2 + height/2, Label: strings.Join(lines, "\n")})
		rows.height += height + groupGap
	}
	s.plot.Y.Min, s.plot.Y.Max = 0, rows.height
	s.plot.Y.Tick.Marker, s.plot.Y.Tick.Label, s.plot.Y.Tick.Length = plot.ConstantTicks(names), style, 0
	s.plot.Y.LineStyle.Width = 0
	s.height = vg.Length(rows.height*rowHeight) + 34
	lines := grid()
	lines.Horizontal.Width = 0
	s.plot.Add(lines, rows)
	return s.svg()
}

// makeRoom extends the axis so that the labels fit beside the bars.
func (b Bars) makeRoom(axis *plot.Axis) {
	const part = 0.22
	leftwards := slices.ContainsFunc(b.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Values, func(v Value) bool { return b.leftwards(v) })
	})
	if _, logarithmic := axis.Scale.(plot.LogScale); logarithmic {
		factor := math.Pow(axis.Max/axis.Min, part)
		axis.Max *= factor
		if leftwards {
			axis.Min /= factor
		}
		return
	}
	axis.Max += part * (axis.Max - axis.Min)
	if leftwards {
		axis.Min -= part * (axis.Max - axis.Min)
	}
}

var targetLine = draw.LineStyle{Color: color.Black, Width: 2}

func fillBox(c draw.Canvas, ink color.Color, left, bottom, right, top vg.Length) {
	c.FillPolygon(ink, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
}

// barRows draws bars. gonum's own have neither whiskers nor labels, and begin at zero, which a
// logarithmic axis lacks.
type barRows struct {
	Bars
	begin  []float64 // the upper end of the bars of each group, in rows
	height float64
}

// Plot implements [plot.Plotter].
func (r *barRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(v float64) vg.Length { return x(min(max(v, p.X.Min), p.X.Max)) }
	for i, group := range r.Groups {
		row := r.begin[i]
		for series, value := range group.Values {
			if math.IsNaN(value.At) {
				continue
			}
			r.bar(c, at, y(row-0.5), series, value, group)
			row--
		}
		if group.Target != 0 {
			c.StrokeLine2(targetLine, at(group.Target), y(row)-4, at(group.Target), y(r.begin[i])+4)
		}
	}
	c.StrokeLine2(draw.LineStyle{Color: gray, Width: 1}, at(r.From), y(0), at(r.From), y(r.height))
}

// bar draws one bar with its whisker and label.
func (r *barRows) bar(c draw.Canvas, at func(float64) vg.Length, y vg.Length, series int, value Value, group Group) {
	left, right := min(at(r.From), at(value.At)), max(at(r.From), at(value.At), at(r.From)+1)
	fillBox(c, seriesColor(series), left, y-barHeight/2, right, y+barHeight/2)
	if value.whisker() {
		low, high := at(value.Low), at(value.High)
		// A white rim keeps the whisker visible on a bar.
		for _, pen := range []draw.LineStyle{{Color: color.White, Width: 3}, {Color: color.Black, Width: 1}} {
			c.StrokeLine2(pen, low, y, high, y)
			c.StrokeLine2(pen, low, y-4, low, y+4)
			c.StrokeLine2(pen, high, y-4, high, y+4)
		}
		left, right = min(left, low), max(right, high)
	}
	label := sans(10, false, color.Black)
	label.YAlign = draw.YCenter
	width := label.Width(r.label(value)) + 10
	target := at(group.Target)
	if r.leftwards(value) {
		if group.Target != 0 && target < left+3 && target > left-width {
			left = target // a label that would cross the target's mark moves behind it
		}
		label.XAlign = draw.XRight
		c.FillText(label, vg.Point{X: left - 5, Y: y + 1}, r.label(value))
		return
	}
	if group.Target != 0 && target > right-3 && target < right+width {
		right = target
	}
	c.FillText(label, vg.Point{X: right + 5, Y: y + 1}, r.label(value))
}

// bars returns the number of bars in the group, without NaN values.
func (g Group) bars() int {
	n := 0
	for _, value := range g.Values {
		if !math.IsNaN(value.At) {
			n++
		}
	}
	return max(n, 1)
}

// leftwards reports whether the bar of a value, and so its label, goes to the left.
func (b Bars) leftwards(value Value) bool { return value.At < b.From }

func (b Bars) label(value Value) string {
	if value.Label != "" {
		return value.Label
	}
	return number(value.At, b.Axis.Unit)
}

// values returns all numbers that the axis must include.
func (b Bars) values() []float64 {
	var values []float64
	for _, group := range b.Groups {
		for _, value := range group.Values {
			if math.IsNaN(value.At) {
				continue
			}
			values = append(values, value.At)
			if value.whisker() {
				values = append(values, value.Low, value.High)
			}
		}
		if group.Target != 0 && len(group.Values) > 0 {
			values = append(values, group.Target)
		}
	}
	if _, _, least, ok := extent(values); b.From != 0 && ok {
		values = append(values, b.From)
	} else if b.Axis.Scale != Linear && !math.IsInf(least, 1) {
		values = append(values, least/2) // or the shortest bar could not be seen
	}
	return values
}
