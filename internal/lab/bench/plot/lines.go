package plot

import (
	"fmt"
	"math"
	"strings"
)

// Lines are curves: a number along another.
type Lines struct {
	// Title is the headline; Caption, below it, says how to read the picture. Both are wrapped.
	Title, Caption string
	// X and Y are the axes. Y begins at zero if it is linear.
	X, Y Axis
	// Series are the curves, in the order of the legend. With one there is no legend.
	Series []Series
}

// Series is one curve.
type Series struct {
	Name   string
	Points []Point
}

// Point is a place on a curve, with a whisker if Y has one.
type Point struct {
	X float64
	Y Value
}

// SVG draws the curves.
func (l Lines) SVG() []byte {
	c := l.draw()
	return c.document(l.Title, l.describe())
}

func (l Lines) draw() *canvas {
	c := &canvas{}
	c.heading(l.Title, l.Caption)
	var xs, ys []float64
	for _, series := range l.Series {
		for _, p := range series.Points {
			if math.IsNaN(p.X) || math.IsNaN(p.Y.At) {
				continue
			}
			xs, ys = append(xs, p.X), append(ys, p.Y.At)
			if p.Y.whisker() {
				ys = append(ys, p.Y.Low, p.Y.High)
			}
		}
	}
	ch := chart{
		xTitle: l.X.Title, yTitle: l.Y.Title, series: l.Series,
		marked:   func(Point) bool { return true },
		describe: func(p Point) string { return number(p.X, l.X.Unit) + ": " + number(p.Y.At, l.Y.Unit) },
	}
	ch.legend(c)
	if len(xs) == 0 {
		c.nothing()
		return c
	}
	ch.x, ch.y = newRuler(l.X, xs, false, 8), newRuler(l.Y, ys, true, 6)
	ch.draw(c)
	return c
}

// describe says in words what the picture shows.
func (l Lines) describe() string {
	var text strings.Builder
	text.WriteString("Line chart. ")
	if l.Caption != "" {
		text.WriteString(l.Caption + " ")
	}
	for _, series := range l.Series {
		var parts []string
		for _, p := range series.Points {
			if !math.IsNaN(p.X) && !math.IsNaN(p.Y.At) {
				parts = append(parts, fmt.Sprintf("%s at %s", number(p.Y.At, l.Y.Unit), number(p.X, l.X.Unit)))
			}
		}
		fmt.Fprintf(&text, "%s: %s. ", series.Name, strings.Join(parts, ", "))
	}
	return strings.TrimSpace(text.String())
}
