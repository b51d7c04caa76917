package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"orrery/internal/lab/bench"
)

// Record is the result of a measure, as build/bench.json lists it.
type Record struct {
	Measure
	// Ours and Theirs are medians over the rounds; Ratio is Ours divided by Theirs.
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs"`
	Ratio  float64 `json:"ratio"`
	// Rounds is the number of rounds, Low and High are the least and the greatest of their ratios.
	// Spread is (max-min)/median of them.
	Rounds  int     `json:"rounds"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Spread  float64 `json:"spread"`
	Verdict Verdict `json:"verdict"`
	// Proof is what each side's work was checked for; only ours if it differs.
	Proof string `json:"proof"`
	// Textbook is the textbook form's result in the same rounds; nil if no textbook form does this
	// work.
	Textbook *TextbookRecord `json:"textbook,omitempty"`
}

// TextbookRecord is the textbook form's part of a record. It has no target.
type TextbookRecord struct {
	// Figure is the median over the rounds, Ratio is Figure divided by the record's Theirs.
	Figure float64 `json:"figure"`
	Ratio  float64 `json:"ratio"`
}

// newRecord returns the record of a measure from the outcomes of the rounds.
func newRecord(m Measure, outcomes map[Side][]bench.Outcome) (Record, error) {
	a, err := figures(m, Ours, outcomes)
	if err != nil {
		return Record{}, err
	}
	b, err := figures(m, m.Against, outcomes)
	if err != nil {
		return Record{}, err
	}
	ratios := bench.Ratios(a, b)
	if slices.ContainsFunc(ratios, math.IsNaN) {
		return Record{}, fmt.Errorf("%s: %s of %s is 0: there is no ratio to 0", m.Name, m.Figure, m.Against)
	}
	r := Record{
		Measure: m, Proof: outcomes[Ours][0].Proof, Rounds: len(a),
		Ours: bench.Median(a), Theirs: bench.Median(b), Low: slices.Min(ratios), High: slices.Max(ratios),
	}
	r.Ratio = bench.Ratios([]float64{r.Ours}, []float64{r.Theirs})[0]
	if r.Spread = bench.Spread(ratios); math.IsNaN(r.Spread) || math.IsInf(r.Spread, 0) {
		r.Spread = r.High - r.Low // around a median of 0 there is only an absolute spread
	}
	r.judge()
	if m.Textbook == "" {
		return r, nil
	}
	values, err := figures(m, m.Textbook, outcomes)
	figure := bench.Median(values)
	r.Textbook = &TextbookRecord{Figure: figure, Ratio: bench.Ratios([]float64{figure}, []float64{r.Theirs})[0]}
	return r, err
}

// figures returns a measure's figure of a side in each round. The proofs of all rounds must be one,
// and that of our side. If our work differs, the other sides must have one proof.
func figures(m Measure, side Side, outcomes map[Side][]bench.Outcome) (values []float64, err error) {
	reference := Ours
	if m.Differs && side != Ours {
		reference = m.Against
	}
	for _, outcome := range outcomes[side] {
		value, ok := outcome.Figures[m.Figure]
		if !ok {
			return nil, fmt.Errorf("%s on %s has no figure %q", m.Scenario, side, m.Figure)
		}
		if first := outcomes[side][0].Proof; outcome.Proof != first {
			return nil, fmt.Errorf("%s on %s proves %q in one round and %q in another",
				m.Scenario, side, first, outcome.Proof)
		}
		if want := outcomes[reference][0].Proof; outcome.Proof != want {
			return nil, fmt.Errorf("%s: the sides did not do the same work: %s proves %q, %s proves %q",
				m.Name, reference, want, side, outcome.Proof)
		}
		values = append(values, m.rounded(value))
	}
	return values, nil
}

// Verdict is the result of a measure against its target.
type Verdict string

const (
	// Met: the medians reach the target.
	Met Verdict = "met"
	// Missed: the medians do not reach the target.
	Missed Verdict = "missed"
	// Shown: the measure has no target.
	Shown Verdict = "shown"
)

// judge sets the verdict on our median or the ratio of the medians.
func (r *Record) judge() {
	got := r.Ratio
	if r.Kind == Value {
		got = r.Ours
	}
	switch {
	case r.Kind == None:
		r.Verdict = Shown
	case got == r.Target || (got < r.Target) == (r.Better == bench.Lower):
		r.Verdict = Met
	default:
		r.Verdict = Missed
	}
}

// MissedTargets returns an error that names every record below its target, or nil.
func MissedTargets(records []Record) error {
	var missed []error
	for _, r := range records {
		if r.Verdict != Missed {
			continue
		}
		text := "the ratio is " + times(r.Ratio)
		if r.Kind == Value {
			text = "it is " + human(r.Ours, r.Unit)
		}
		missed = append(missed, fmt.Errorf("%s: %s, and the target is %s", r.Name, text, wanted(r)))
	}
	return errors.Join(missed...)
}

// Machine is the machine that measured, with the versions of the originals by module path.
type Machine struct {
	bench.Machine
	Modules map[string]string `json:"modules"`
}

// originals lists the modules whose versions are shown.
var originals = []string{"k8s.io/client-go", "k8s.io/kubernetes", "sigs.k8s.io/controller-runtime"}

// ThisMachine describes the machine. The originals' versions are those in the programs' build
// information.
func ThisMachine(programs ...string) Machine {
	m := Machine{Machine: bench.ThisMachine(), Modules: make(map[string]string)}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			continue
		}
		for _, module := range append(info.Deps, &info.Main) {
			if slices.Contains(originals, module.Path) {
				m.Modules[module.Path] = cmp.Or(module.Replace, module).Version
			}
		}
	}
	return m
}

// Results holds the result of a comparison, as build/bench.json has it.
type Results struct {
	Machine Machine  `json:"machine"`
	Records []Record `json:"records"`
}

// Targets returns the records with a target.
func (r Results) Targets() []Record {
	return slices.DeleteFunc(slices.Clone(r.Records), func(r Record) bool { return r.Kind == None })
}

// JSON returns the content of build/bench.json.
func (r Results) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// WriteTable writes all records for a terminal, and a sentence about the targets.
func (r Results) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "measure\tours\ttheirs\ttextbook\tratio\trounds\ttarget\tverdict")
	for _, r := range r.Records {
		cells := []string{
			r.Name, human(r.Ours, r.Unit), human(r.Theirs, r.Unit), textbook(r),
			times(r.Ratio), reach(r), wanted(r), string(r.Verdict),
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	err := table.Flush()
	if targets := r.Targets(); len(targets) > 0 {
		_, failed := fmt.Fprintf(w, "\n%s.\n", Summary(targets))
		err = cmp.Or(err, failed)
	}
	return err
}

// Summary returns a sentence about how many targets are met.
func Summary(targets []Record) string {
	missed := 0
	for _, r := range targets {
		if r.Verdict == Missed {
			missed++
		}
	}
	text := fmt.Sprintf("%d of %d targets met", len(targets)-missed, len(targets))
	if missed > 0 {
		text += fmt.Sprintf(", %d missed", missed)
	}
	return text
}
