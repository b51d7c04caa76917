package plot

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

// SVG draws the bars.
func (b Bars) SVG() []byte { return nil }
