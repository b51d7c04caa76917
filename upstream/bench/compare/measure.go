package compare

import "orrery/internal/bench"

// Measure is a figure of a scenario, compared between two sides, and what is wanted of it.
type Measure struct {
	// Name is what the record of the measure is called: "queue/cycle ns/op".
	Name string
	// Title says in a few words what it is: "Add, Get, Done: one goroutine".
	Title string
	// Scenario is the piece of work on our side, Figure the name of the number in its outcome.
	Scenario, Figure string
	// Against is who it is compared with; client-go if empty. Other is that side's scenario, if it has another name.
	Against Side
	Other   string
	// Unit is what the figure is printed with: "ns".
	Unit   string
	Better bench.Better
	// Kind says what Target is a bound of.
	Kind   TargetKind
	Target float64
	// Quick measures are part of the guard that runs with every change.
	Quick bool
	// How says how it was measured, in a sentence or two of Markdown for the page.
	How string
}

// TargetKind says what the target of a measure bounds.
type TargetKind string

const (
	// Ratio bounds our median divided by theirs.
	Ratio TargetKind = "ratio"
	// Value bounds our median itself, in the unit of the measure.
	Value TargetKind = "value"
	// None is a measure that is shown without a target.
	None TargetKind = "none"
)
