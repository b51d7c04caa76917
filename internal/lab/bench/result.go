// Package bench is the benchmark harness: the vocabulary, the load and the driver. A workload is
// written once, against a small interface; a subject is one of this project's gears, or an adapter
// to another library. A [Result] is one run with the parameters that the user chose, as "lab bench"
// shows it. A [Scenario] is a fixed piece of work for comparisons between processes that take
// turns. A Result or an [Outcome] without an error has been verified by its workload: a workload
// that finds something missing returns a [*ProofError] and no figures.
//
// [Table] is for readers, with numbers of three digits and a prefix: 4.2 M/s, 310 ns, 12.3 MiB.
// [JSON] and [Benchfmt] are for programs: their numbers are never scaled or rounded and their names
// are stable. A missing value is null in JSON and a dash in a table, never a zero.
//
// [Keys] are made once, and a [Picker] draws from them in a few nanoseconds without allocating, so
// the measurement does not include the generator. The same seed gives every subject the same
// sequence. A [Pacer] defines when each event of an open loop is due: event i at i/rate, whatever
// the subject does. A producer that waits for its subject omits the events it would have made
// meanwhile, and with them the latencies that a user would have seen; this is known as coordinated
// omission. So a latency is the time from when the event was due until it was handled, and an event
// that is late is due immediately. [Load] has all of that as flags, and a [Driver] runs it.
package bench

import (
	"context"
	"fmt"
)

// Result is one run of a benchmark with chosen parameters.
type Result struct {
	// Bench is the command: "queue".
	Bench string `json:"bench"`
	// Subject is the measured library: "orrery", or the name of a design ("fast").
	Subject string `json:"subject"`
	// Parameters are the relevant flags, the most important first.
	Parameters []Parameter `json:"-"`
	// Figures are the numbers, the most important first.
	Figures []Figure `json:"figures"`
	// Latency is the time from when an event was due until it was handled; nil if not measured.
	Latency *Histogram `json:"-"`
	// Proof lists the checks that passed.
	Proof []string `json:"proof"`
}

// Parameter is a flag and its value.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Figure is a number produced by a run.
type Figure struct {
	// Name is what was measured: "processed", "peak memory".
	Name string `json:"name"`
	// Unit is the unit of Value: "1/s", "ns", "B". Values are never scaled; reports scale them.
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	// Better is the preferred direction.
	Better Better `json:"better"`

	latency bool // a percentile of the latency
}

// Figure returns the figure with the given name.
func (r *Result) Figure(name string) (Figure, bool) {
	for _, f := range r.Figures {
		if f.Name == name {
			return f, true
		}
	}
	return Figure{}, false
}

// Better says which values of a figure are better.
type Better string

const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// The units of figures.
const (
	PerSecond   = "1/s"
	Nanoseconds = "ns"
	Bytes       = "B"
	Count       = "count"
	Seconds     = "s"
)

// Scenario is a fixed piece of work on one subject, for comparing subjects. It runs in a process of
// its own. What limits it, and why a target is what it is, stands in upstream/bench/compare/texts.
type Scenario struct {
	// Name is the same for all subjects: "queue/cycle".
	Name string
	// Run does the work once and returns its verified figures.
	Run func(ctx context.Context, effort Effort) (Outcome, error)
}

// Outcome is the result of a scenario.
type Outcome struct {
	// Figures by name: "ns/op", "allocs/op", "peak MiB". A name means the same for every subject.
	Figures map[string]float64 `json:"figures"`
	// Proof describes the checked work: "1000000 keys processed once each". Subjects that did the
	// same work have the same proof; others must not be compared.
	Proof string `json:"proof"`
}

// ProofError reports that the work was not done and its figures are meaningless.
type ProofError struct {
	// What was checked: "keys processed".
	What      string
	Want, Got any
}

func (e *ProofError) Error() string {
	return fmt.Sprintf("the work was not done: %s: got %v, want %v", e.What, e.Got, e.Want)
}

// Prove returns a *[ProofError] unless got equals want.
func Prove[V comparable](what string, want, got V) error {
	if got == want {
		return nil
	}
	return &ProofError{What: what, Want: want, Got: got}
}

// Effort is how much work a scenario does.
type Effort uint8

const (
	// Full is for published figures.
	Full Effort = iota
	// Quick does less of the same work, to guard against regressions.
	Quick
)

// Of returns full, or quick for a quick run.
func (e Effort) Of(full, quick int) int {
	if e == Quick {
		return quick
	}
	return full
}
