package compare

import (
	"math"

	"orrery/internal/lab/bench"
)

// Measure is a figure of a scenario, compared between two sides, and what is wanted of it.
type Measure struct {
	// Name is what the record of the measure is called: "queue/cycle ns/op". No two measures have the same.
	Name string
	// Title says in a few words what it is: "Add, Get, Done: one goroutine".
	Title string
	// Scenario is the piece of work on our side, Figure the name of the number in its outcome.
	Scenario, Figure string
	// Against is who it is compared with; client-go if empty. Other is that side's scenario, if it has another name.
	Against Side
	Other   string
	// Textbook is the side whose form of the gear explains it; it does Scenario, too, and is shown without a target. Empty if no
	// textbook form does this work.
	Textbook Side
	// Unit is what the figure is printed with: "ns".
	Unit   string
	Better bench.Better
	// Kind says what Target is a bound of.
	Kind   TargetKind
	Target float64
	// Grain is what figures are rounded to. Counts of allocations need it: the runtime allocates a little on its own.
	Grain float64
	// Quick measures are exact, so a busy machine does not change them: the check of every change holds them to their targets.
	Quick bool
	// Proofs of the two sides need not be the same, because the measure compares different work on purpose.
	Different bool
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

func (m Measure) entrants() (ours, theirs entrant) {
	ours = entrant{side: Ours, scenario: m.Scenario}
	theirs = entrant{side: m.Against, scenario: m.Other}
	if theirs.side == "" {
		theirs.side = Theirs
	}
	if theirs.scenario == "" {
		theirs.scenario = m.Scenario
	}
	return ours, theirs
}

// textbook returns what the textbook form does for the measure, if anything.
func (m Measure) textbook() (e entrant, ok bool) {
	return entrant{side: m.Textbook, scenario: m.Scenario}, m.Textbook != ""
}

func (m Measure) rounded(value float64) float64 {
	if m.Grain == 0 {
		return value
	}
	return math.Round(value/m.Grain) * m.Grain
}

// reached tells whether a ratio or a value is at least as good as a bound.
func (m Measure) reached(got, bound float64) bool {
	if m.Better == bench.Higher {
		return got >= bound
	}
	return got <= bound
}
