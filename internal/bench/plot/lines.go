package plot

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
func (l Lines) SVG() []byte { return nil }
