package compare

import (
	"math"

	"orrery/internal/lab/bench"
)

// Measure is a figure of a scenario, compared between two sides, with its target.
type Measure struct {
	// Name is the unique name of the measure's record: "queue/cycle ns/op".
	Name string
	// Title describes it: "Add, Get, Done: one goroutine".
	Title string
	// Scenario is our side's scenario, Figure the name of the number in its outcome.
	Scenario, Figure string
	// Against is the other side, client-go if empty. Other is its scenario if that has another
	// name.
	Against Side
	Other   string
	// Textbook is the side of the gear's textbook form, which runs Scenario without a target. Empty
	// if no textbook form does this work.
	Textbook Side
	// Unit is the figure's unit: "ns".
	Unit   string
	Better bench.Better
	// Kind is what Target bounds.
	Kind   TargetKind
	Target float64
	// Grain is the unit to which figures are rounded. Allocation counts need it: the runtime
	// allocates a little itself.
	Grain float64
	// Quick measures are exact even on a busy machine, so the check of every change holds them to
	// their targets.
	Quick bool
	// Different allows the sides' proofs to differ, because the measure compares different work on
	// purpose.
	Different bool
}

// TargetKind is what the target of a measure bounds.
type TargetKind string

const (
	// Ratio bounds our median divided by theirs.
	Ratio TargetKind = "ratio"
	// Value bounds our median itself, in the unit of the measure.
	Value TargetKind = "value"
	// None has no target.
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

// textbook returns the textbook form's entrant, if any.
func (m Measure) textbook() (e entrant, ok bool) {
	return entrant{side: m.Textbook, scenario: m.Scenario}, m.Textbook != ""
}

// isWholePrograms reports whether the measure compares "orrery run" with kube-controller-manager.
func (m Measure) isWholePrograms() bool { return m.isOf("deletion") }

func (m Measure) rounded(value float64) float64 {
	if m.Grain == 0 {
		return value
	}
	return math.Round(value/m.Grain) * m.Grain
}

// reached reports whether a ratio or a value is at least as good as a bound.
func (m Measure) reached(got, bound float64) bool {
	if m.Better == bench.Higher {
		return got >= bound
	}
	return got <= bound
}

// Side is one of the compared programs.
type Side string

// The sides of a comparison.
const (
	// Ours is this project with the fast form of every gear.
	Ours Side = "ours"
	// Textbook is this project with the textbook form of every gear.
	Textbook Side = "textbook"
	// InOrder is this project's FIFO that keeps every event in order of arrival, for the scenarios
	// of the FIFO.
	InOrder Side = "inorder"
	// Theirs is client-go, or kube-controller-manager among whole processes.
	Theirs Side = "client-go"
	// RealFIFO is client-go's newer FIFO, its informers' default, for the scenarios of the FIFO.
	RealFIFO Side = "client-go's RealFIFO"
	// Priority is controller-runtime's priority queue, for the scenarios of the queue.
	Priority Side = "controller-runtime"
)
