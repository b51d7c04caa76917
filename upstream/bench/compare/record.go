package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

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
