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
	// Name of the measure.
	Name string `json:"name"`
	// Unit of Ours and Theirs.
	Unit string `json:"unit"`
	// Ours and Theirs are medians over the rounds; Ratio is Ours divided by Theirs.
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs"`
	Ratio  float64 `json:"ratio"`
	// Spread is the spread of the rounds' ratios, (max-min)/median.
	Spread float64 `json:"spread"`
	// Target bounds Ratio or Ours, as TargetKind says; 0 if there is none.
	Target float64 `json:"target"`
	// Better is "lower" or "higher", for the figure and so for the ratio.
	Better     bench.Better `json:"better"`
	TargetKind TargetKind   `json:"target_kind"`
	// Rounds is the number of rounds, Low and High are the least and the greatest of their ratios.
	Rounds  int     `json:"rounds"`
	Verdict Verdict `json:"verdict"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	// Proof is what each side's work was checked for.
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
func newRecord(m Measure, ours, theirs []bench.Outcome) (Record, error) {
	our, their := m.entrants()
	a, proof, err := figures(m, our, ours)
	if err != nil {
		return Record{}, err
	}
	b, otherProof, err := figures(m, their, theirs)
	if err != nil {
		return Record{}, err
	}
	if proof != otherProof && !m.Different {
		return Record{}, proofsDiffer(m, proof, otherProof, their.side)
	}
	ratios := bench.Ratios(a, b)
	if slices.ContainsFunc(ratios, math.IsNaN) {
		return Record{}, fmt.Errorf("%s: %s of %s is 0: there is no ratio to 0", m.Name, m.Figure, their.side)
	}
	r := Record{
		Name: m.Name, Unit: m.Unit, Better: m.Better, Target: m.Target, TargetKind: m.Kind, Proof: proof, Rounds: len(a),
		Ours: bench.Median(a), Theirs: bench.Median(b), Low: slices.Min(ratios), High: slices.Max(ratios),
	}
	r.Ratio = bench.Ratios([]float64{r.Ours}, []float64{r.Theirs})[0]
	if r.Spread = bench.Spread(ratios); math.IsNaN(r.Spread) || math.IsInf(r.Spread, 0) {
		r.Spread = r.High - r.Low // around a median of 0 there is only an absolute spread
	}
	r.Verdict = verdictOf(m, r.Ours, r.Ratio)
	return r, nil
}

// addTextbook adds the textbook form's result. Its proof must be the same.
func (r *Record) addTextbook(m Measure, e entrant, outcomes []bench.Outcome) error {
	values, proof, err := figures(m, e, outcomes)
	if err != nil {
		return err
	}
	if proof != r.Proof {
		return proofsDiffer(m, r.Proof, proof, e.side)
	}
	figure := bench.Median(values)
	r.Textbook = &TextbookRecord{Figure: figure, Ratio: bench.Ratios([]float64{figure}, []float64{r.Theirs})[0]}
	return nil
}

// figures returns a measure's figure in each round, and the common proof.
func figures(m Measure, e entrant, outcomes []bench.Outcome) ([]float64, string, error) {
	values := make([]float64, len(outcomes))
	for i, outcome := range outcomes {
		value, ok := outcome.Figures[m.Figure]
		if !ok {
			return nil, "", fmt.Errorf("%s on %s has no figure %q", e.scenario, e.side, m.Figure)
		}
		if outcome.Proof != outcomes[0].Proof {
			return nil, "", fmt.Errorf("%s on %s proves %q in one round and %q in another", e.scenario, e.side, outcomes[0].Proof, outcome.Proof)
		}
		values[i] = m.rounded(value)
	}
	return values, outcomes[0].Proof, nil
}

// proofsDiffer reports that two sides did different work.
func proofsDiffer(m Measure, ours, theirs string, against Side) error {
	return fmt.Errorf("%s: the sides did not do the same work: ours proves %q, %s proves %q",
		m.Name, ours, against, theirs)
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

// verdictOf returns the verdict on our median and the ratio of the medians.
func verdictOf(m Measure, ours, ratio float64) Verdict {
	got := ratio
	if m.Kind == Value {
		got = ours
	}
	switch {
	case m.Kind == None:
		return Shown
	case m.reached(got, m.Target):
		return Met
	default:
		return Missed
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
		if r.TargetKind == Value {
			text = "it is " + human(r.Ours, r.Unit)
		}
		missed = append(missed, fmt.Errorf("%s: %s, and the target is %s", r.Name, text, wanted(r)))
	}
	return errors.Join(missed...)
}
