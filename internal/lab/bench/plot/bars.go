package plot

import (
	"fmt"
	"math"
	"strings"
)

// Bars are horizontal bars in groups: a group for each thing that was measured, in it a bar for each series.
type Bars struct {
	// Title is the headline; Caption, below it, says how to read the picture. Both are wrapped.
	Title, Caption string
	// Axis is what the bars are measured along.
	Axis Axis
	// Series are the names for the legend. With one series there is no legend.
	Series []string
	// Groups from top to bottom.
	Groups []Group
	// From is where bars begin. For ratios on a logarithmic axis 1 is right: bars to the left are less, bars to the right
	// are more. The zero value is 0, or the left end of a logarithmic axis.
	From float64
	// Target is the word for the marks of Group.Target in the legend; empty means "target".
	Target string
}

// Group is one thing that was measured.
type Group struct {
	// Name stands to the left of the bars; it is wrapped when it is long.
	Name string
	// Values are in the order of Bars.Series. A group may have fewer.
	Values []Value
	// Target is marked by a line across the group; 0 is none.
	Target float64
}

// Value is a number, and how far it spreads.
type Value struct {
	// At is the number: a median. Not a number (math.NaN()) is left out.
	At float64
	// Low and High are the ends of the whisker; both 0 is none.
	Low, High float64
	// Label is written at the end of the bar; empty means At with its unit. Lines have no labels.
	Label string
}

// whisker tells whether the value has one.
func (v Value) whisker() bool { return v.Low != 0 || v.High != 0 }

// The measures of bars, in pixels.
const (
	barHeight   = 16.0
	barGap      = 3.0
	groupGap    = 18.0
	mostLabel   = 260.0 // the widest that the names may be
	labelMargin = 7.0   // between a bar and its label
)

// SVG draws the bars.
func (b Bars) SVG() []byte {
	c := b.draw()
	return c.document(b.Title, b.describe())
}

func (b Bars) draw() *canvas {
	c := &canvas{}
	c.heading(b.Title, b.Caption)
	targetName := ""
	for _, group := range b.Groups {
		if group.Target != 0 {
			targetName = b.Target
			if targetName == "" {
				targetName = "target"
			}
		}
	}
	c.legend(b.Series,
		func(x, y float64, series int) { c.rect(x-6, y-6, 12, 12, seriesInk(series), "") },
		targetName, func(x, y float64) { c.line(x, y-8, x, y+8, 2.5, black, "") })
	values := b.values()
	if len(values) == 0 {
		c.nothing()
		return c
	}

	names := 0.0
	for _, group := range b.Groups {
		names = max(names, widest(wrap(group.Name, labelSize, mostLabel, false), labelSize))
	}
	r := newRuler(b.Axis, values, b.From == 0, 6)
	before, behind := b.labelRoom()
	r.from, r.to = margin+names+12+before, pictureWidth-margin-behind
	r.thin(tickSize)

	top := c.y
	bottom := top + groupGap/2
	for _, group := range b.Groups {
		bottom += group.height() + groupGap
	}
	bottom -= groupGap / 2
	c.columns(r, top, bottom)
	c.y = top + groupGap/2
	for _, group := range b.Groups {
		b.group(c, r, group, margin+names)
	}
	c.y = bottom
	zero := r.at(b.From)
	c.line(zero, top, zero, bottom, 1.5, gray, "")
	c.below(r, b.Axis.Title, bottom)
	return c
}

// values are all numbers that the ruler has to have room for.
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
	if _, _, least := extent(values); b.From != 0 && len(values) > 0 {
		values = append(values, b.From)
	} else if b.Axis.Scale != Linear && !math.IsInf(least, 1) {
		values = append(values, least/2) // or the shortest bar could not be seen
	}
	return values
}

// labelRoom is how much room the labels of the bars take on both sides.
func (b Bars) labelRoom() (before, behind float64) {
	behind = 30 // half of the label of the last tick
	for _, group := range b.Groups {
		for _, value := range group.Values {
			width := textWidth(b.label(value), tickSize, false) + 2*labelMargin
			if b.leftwards(value) {
				before = max(before, width)
			} else {
				behind = max(behind, width)
			}
		}
	}
	return before, behind
}

// leftwards tells whether the bar of a value goes to the left, so that its label does, too.
func (b Bars) leftwards(value Value) bool { return value.At < b.From }

func (b Bars) label(value Value) string {
	if value.Label != "" {
		return value.Label
	}
	return number(value.At, b.Axis.Unit)
}

// height is that of the bars, or that of the name if it is higher.
func (g Group) height() float64 {
	bars := g.barsHeight()
	lines := float64(len(wrap(g.Name, labelSize, mostLabel, false)))
	return max(bars, lines*labelSize*lineHeight)
}

// barsHeight is that of the bars alone. What is not a number takes no room.
func (g Group) barsHeight() float64 {
	height := -barGap
	for _, value := range g.Values {
		if !math.IsNaN(value.At) {
			height += barHeight + barGap
		}
	}
	return max(height, 0)
}

// group draws the name and the bars of one group at c.y.
func (b Bars) group(c *canvas, r ruler, group Group, names float64) {
	height := group.height()
	lines := wrap(group.Name, labelSize, mostLabel, false)
	y := c.y + height/2 - float64(len(lines))*labelSize*lineHeight/2
	for i, line := range lines {
		c.text(names, y+(float64(i)+0.5)*labelSize*lineHeight+labelSize*0.36, end, labelFont, line)
	}
	y = c.y + (height-group.barsHeight())/2
	if group.Target != 0 {
		defer c.line(r.at(group.Target), c.y-5, r.at(group.Target), c.y+height+5, 2.5, black, "")
	}
	for series, value := range group.Values {
		if !math.IsNaN(value.At) {
			b.bar(c, r, y, series, value, group)
			y += barHeight + barGap
		}
	}
	c.y += height + groupGap
}

// bar draws one bar with its whisker and its label.
func (b Bars) bar(c *canvas, r ruler, y float64, series int, value Value, group Group) {
	from, to := r.at(b.From), r.at(value.At)
	what := group.Name + ": " + b.label(value)
	if len(b.Series) > series {
		what = b.Series[series] + ", " + what
	}
	c.rect(min(from, to), y, max(math.Abs(to-from), 1), barHeight, seriesInk(series), what)
	left, right := min(from, to), max(from, to)
	if value.whisker() {
		low, high := r.at(value.Low), r.at(value.High)
		c.whisker(low, high, y+barHeight/2)
		left, right = min(left, low), max(right, high)
	}
	// A label that the mark of the target would run through moves behind it.
	label := b.label(value)
	width := textWidth(label, tickSize, false) + 2*labelMargin
	target := r.at(group.Target)
	baseline := y + barHeight/2 + tickSize*0.36
	if b.leftwards(value) {
		if group.Target != 0 && target < left+3 && target > left-width {
			left = min(left, target)
		}
		c.text(left-labelMargin, baseline, end, font{tickSize, false, black}, label)
		return
	}
	if group.Target != 0 && target > right-3 && target < right+width {
		right = max(right, target)
	}
	c.text(right+labelMargin, baseline, start, font{tickSize, false, black}, label)
}

// whisker draws a horizontal whisker. It has a rim of paper, to be seen on a bar and beside it.
func (c *canvas) whisker(low, high, y float64) {
	for _, pen := range []struct {
		ink   ink
		width float64
	}{{paper, 3.5}, {black, 1.5}} {
		c.line(low, y, high, y, pen.width, pen.ink, "")
		c.line(low, y-4, low, y+4, pen.width, pen.ink, "")
		c.line(high, y-4, high, y+4, pen.width, pen.ink, "")
	}
}

// columns draws the grid lines of a horizontal ruler.
func (c *canvas) columns(r ruler, top, bottom float64) {
	for _, v := range r.minor {
		c.line(r.at(v), top, r.at(v), bottom, 1, faint, "")
	}
	for _, v := range r.ticks {
		c.line(r.at(v), top, r.at(v), bottom, 1, grid, "")
	}
}

// below writes the labels of a horizontal ruler and its title.
func (c *canvas) below(r ruler, title string, y float64) {
	c.y = y + tickSize + 6
	for i, v := range r.ticks {
		c.text(r.at(v), c.y, middle, tickFont, r.labels[i])
	}
	if title != "" {
		for _, line := range wrap(title, captionSize, r.to-r.from, false) {
			c.y += captionSize + 8
			c.text((r.from+r.to)/2, c.y, middle, captionFont, line)
		}
	}
}

// describe says in words what the picture shows.
func (b Bars) describe() string {
	var text strings.Builder
	text.WriteString("Bar chart. ")
	if b.Caption != "" {
		text.WriteString(b.Caption + " ")
	}
	for _, group := range b.Groups {
		var parts []string
		for i, value := range group.Values {
			name := ""
			if len(b.Series) > 1 && i < len(b.Series) {
				name = b.Series[i] + " "
			}
			parts = append(parts, name+b.label(value))
		}
		if group.Target != 0 {
			parts = append(parts, "target "+number(group.Target, b.Axis.Unit))
		}
		fmt.Fprintf(&text, "%s: %s. ", group.Name, strings.Join(parts, ", "))
	}
	return strings.TrimSpace(text.String())
}
