package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"orrery/internal/lab/bench"
)

// Measure is a figure of a scenario, compared between two sides, with its target.
type Measure struct {
	// Name is unique: "queue/cycle ns/op".
	Name string `json:"name"`
	// Title describes it: "Add, Get, Done: one goroutine".
	Title string `json:"-"`
	// Unit is the figure's unit: "ns". Better is "lower" or "higher".
	Unit   string       `json:"unit"`
	Better bench.Better `json:"better"`
	// Kind is what Target bounds.
	Kind   TargetKind `json:"target_kind"`
	Target float64    `json:"target"`

	// Scenario is our side's scenario, by default the first word of Name.
	Scenario string `json:"-"`
	// Figure is the number in the scenario's outcome. Measures sets it, and the sides.
	Figure string `json:"-"`
	// Against is the other side.
	Against Side `json:"-"`
	// Textbook is the side of the gear's textbook form, which runs Scenario without a target.
	Textbook Side `json:"-"`
	// Differs: our side's work differs on purpose, so that its proof may be another one.
	Differs bool `json:"-"`
	// Grain is the unit to which figures are rounded. Allocation counts need it: the runtime
	// allocates a little itself.
	Grain float64 `json:"-"`
	// Quick measures are exact even on a busy machine, so the check of every change holds them to
	// their targets.
	Quick bool `json:"-"`
}

// TargetKind is what the target of a measure bounds.
type TargetKind string

const (
	// Ratio bounds our median divided by theirs. It is the default.
	Ratio TargetKind = "ratio"
	// Value bounds our median itself, in the unit of the measure.
	Value TargetKind = "value"
	// None has no target.
	None TargetKind = "none"
)

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
	// Theirs is client-go; among whole processes kube-controller-manager.
	Theirs Side = "client-go"
	// RealFIFO is client-go's newer FIFO, its informers' default, for the scenarios of the FIFO.
	RealFIFO Side = "client-go's RealFIFO"
	// Priority is controller-runtime's priority queue, for the scenarios of the queue.
	Priority Side = "controller-runtime"
)

// targets are the project's targets in the order of the page.
var targets = []Measure{
	{Name: "queue/cycle ns/op", Title: "queue: Add, Get, Done", Target: 0.6},
	{Name: "queue/cycle allocs/op", Title: "queue: Add, Get, Done: allocations", Kind: Value, Grain: 0.01, Quick: true},
	{Name: "queue/cycle-metrics ns/op", Title: "queue: Add, Get, Done with metrics on", Target: 0.55},
	{Name: "queue/pipeline processed/s", Title: "queue: 4 producers, 4 workers, batches of 32",
		Unit: "1/s", Better: bench.Higher, Target: 4},
	{Name: "queue/add-after ns/op", Title: "queue: AddAfter, 1M keys far in the future", Target: 0.3},
	{Name: "queue/add-after B/op", Title: "queue: AddAfter: bytes", Target: 0.5, Quick: true},
	{Name: "queue/add-rate-limited ns/op", Title: "queue: AddRateLimited, exponential", Target: 0.8},

	{Name: "fifo/add-pop ns/op", Title: "FIFO: Add and Pop side by side", Target: 0.33},
	{Name: "fifo/add-pop allocs/op", Title: "FIFO: Add and Pop: allocations",
		Kind: Value, Target: 2, Grain: 0.1, Quick: true},
	{Name: "fifo/relist ms", Title: "FIFO: relist of 100k", Target: 0.3},
	{Name: "fifo/relist lock-ms", Title: "FIFO: longest wait of another Add", Unit: "ms", Kind: Value, Target: 10},

	{Name: "store/update ns/op", Title: "store: update with an index", Target: 0.8},
	{Name: "store/by-index ns/op", Title: "store: ByIndex, 1000 of 100k", Target: 0.2},
	{Name: "store/writes-with-readers writes/s", Title: "store: writes while 4 readers list 100k",
		Unit: "1/s", Better: bench.Higher, Target: 1000},

	{Name: "dispatch/1 ns/event", Title: "dispatch to 1 handler", Target: 0.4},
	{Name: "dispatch/1 allocs/event", Title: "dispatch to 1 handler: allocations",
		Kind: Value, Target: 2, Grain: 0.1, Quick: true},
	{Name: "dispatch/16 ns/event", Title: "dispatch to 16 handlers", Target: 0.12},
	{Name: "dispatch/idle p50", Title: "one event, nothing else to do: p50", Unit: "ns", Target: 0.7},
	{Name: "dispatch/stalled-default live MiB", Title: "100k updates, stalled handler: live heap",
		Unit: "MiB", Target: 0.95},
	{Name: "dispatch/stalled-coalescing live MiB", Title: "100k updates, stalled handler, coalescing",
		Unit: "MiB", Target: 0.2, Differs: true},

	{Name: "sync/json cpu s", Title: "sync of 100k pods, JSON: processor time", Unit: "s", Target: 0.15},
	{Name: "sync/json peak MiB", Title: "sync of 100k pods, JSON: peak memory", Unit: "MiB", Target: 0.35},
	{Name: "sync/json live MiB", Title: "sync of 100k pods, JSON: live heap", Unit: "MiB", Target: 0.55},

	{Name: "deletion/hundred s", Title: "deletion of 100 namespaces", Target: 0.33},
	{Name: "deletion/hundred requests", Title: "deletion of 100 namespaces: requests", Target: 0.55},
	{Name: "deletion/empty ms", Title: "deletion of an empty namespace", Target: 0.15},
	{Name: "deletion/empty requests", Title: "deletion of an empty namespace: requests",
		Kind: Value, Target: 36, Quick: true},
	{Name: "deletion/idle resident MiB", Title: "process at rest: resident memory",
		Unit: "MiB", Target: 0.28, Scenario: "deletion/hundred"},
}

// Measures returns the project's targets, and without a target the same figures beside
// controller-runtime's priority queue and client-go's newer FIFO. To add one, write its scenario
// for both sides, a row above, and a section in texts/.
func Measures() []Measure {
	var all, others []Measure
	for _, m := range targets {
		scenario, figure, _ := strings.Cut(m.Name, " ")
		m.Scenario, m.Figure, m.Unit = cmp.Or(m.Scenario, scenario), figure, cmp.Or(m.Unit, figure)
		m.Better, m.Kind = cmp.Or(m.Better, bench.Lower), cmp.Or(m.Kind, Ratio)
		m.Against, m.Textbook = Theirs, Textbook
		all = append(all, m)
		switch {
		case m.isOf("queue"):
			m.Against, m.Textbook = Priority, ""
		case m.isOf("fifo/add-pop"):
			m.Against, m.Textbook = RealFIFO, InOrder // both keep every event
		default:
			continue
		}
		m.Name += " against " + string(m.Against)
		m.Kind, m.Target, m.Quick = None, 0, false
		others = append(others, m)
	}
	return append(all, others...)
}

func (m Measure) rounded(value float64) float64 {
	if m.Grain == 0 {
		return value
	}
	return math.Round(value/m.Grain) * m.Grain
}

// isOf reports whether the measure belongs to a group: "queue", "queue/cycle".
func (m Measure) isOf(group string) bool {
	return m.section() == group || strings.HasPrefix(m.section(), group+"/")
}

// section returns the scenario in the measure's name, which is usually the one that is run.
func (m Measure) section() string {
	scenario, _, _ := strings.Cut(m.Name, " ")
	return scenario
}

// Only returns the selected measures: by a group ("queue"), a scenario ("queue/cycle") or a name
// ("queue/cycle ns/op"). It returns an error for a selection without a match.
func Only(measures []Measure, wanted []string) ([]Measure, error) {
	for _, w := range wanted {
		if !slices.ContainsFunc(measures, func(m Measure) bool { return m.matches(w) }) {
			return nil, fmt.Errorf("there is no measure %q; -list names them all", w)
		}
	}
	return slices.DeleteFunc(slices.Clone(measures), func(m Measure) bool {
		return !slices.ContainsFunc(wanted, m.matches)
	}), nil
}

// matches reports whether a name or a group selects the measure.
func (m Measure) matches(asked string) bool {
	return m.Name == asked || m.isOf(asked) || m.Scenario == asked
}
