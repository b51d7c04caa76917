package main

import (
	"math"
	"strings"

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

// isWholePrograms reports whether the measure compares programs, which link what they link.
func (m Measure) isWholePrograms() bool { return m.isOf("deletion") || m.isOf("server") }

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
	// Theirs is client-go; among whole processes kube-controller-manager, or a control plane.
	Theirs Side = "client-go"
	// RealFIFO is client-go's newer FIFO, its informers' default, for the scenarios of the FIFO.
	RealFIFO Side = "client-go's RealFIFO"
	// Priority is controller-runtime's priority queue, for the scenarios of the queue.
	Priority Side = "controller-runtime"
)

// ratio returns a measure of which less is better. Its name is the scenario, a space and the
// figure.
func ratio(name, title, unit string, target float64) Measure {
	scenario, figure, _ := strings.Cut(name, " ")
	return Measure{
		Name: name, Title: title, Scenario: scenario, Figure: figure, Unit: unit,
		Better: bench.Lower, Kind: Ratio, Target: target, Against: Theirs, Textbook: Textbook,
	}
}

// perOp returns a measure of the time of an operation.
func perOp(scenario, title string, target float64) Measure {
	return ratio(scenario+" ns/op", title, "ns/op", target)
}

// higher returns a measure of which more is better.
func higher(name, title, unit string, target float64) Measure {
	m := ratio(name, title, unit, target)
	m.Better = bench.Higher
	return m
}

// value returns a measure whose target bounds our figure itself.
func value(name, title, unit string, target float64) Measure {
	m := ratio(name, title, unit, target)
	m.Kind = Value
	return m
}

func (m Measure) quick() Measure {
	m.Quick = true
	return m
}

func (m Measure) grain(grain float64) Measure {
	m.Grain = grain
	return m
}

// of takes the figure from another scenario.
func (m Measure) of(scenario string) Measure {
	m.Scenario = scenario
	return m
}

func (m Measure) shown() Measure {
	m.Kind, m.Target, m.Quick = None, 0, false
	return m
}

// over compares with another scenario of the other side. The proofs may differ then: a design that
// merges events proves something else than one that delivers them all. It has no textbook form.
func (m Measure) over(scenario string) Measure {
	m.Other, m.Different = scenario, true
	return m.beside("")
}

// beside sets the side of the textbook form; "" is none.
func (m Measure) beside(textbook Side) Measure {
	m.Textbook = textbook
	return m
}

// against compares with another rival, without a target or a textbook form.
func (m Measure) against(side Side) Measure {
	m.Name += " against " + string(side)
	m.Against = side
	return m.shown().beside("")
}

// isOf reports whether the measure belongs to a group: "queue", "queue/cycle".
func (m Measure) isOf(group string) bool {
	return m.Scenario == group || strings.HasPrefix(m.Scenario, group+"/")
}

// title returns the scenario in the measure's name, which is usually the one that is run.
func (m Measure) title() string {
	scenario, _, _ := strings.Cut(m.Name, " ")
	return scenario
}
