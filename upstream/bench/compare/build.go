package compare

import (
	"strings"

	"orrery/internal/lab/bench"
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
