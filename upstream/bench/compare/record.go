package compare

import (
	"fmt"
	"math"
	"slices"

	"orrery/internal/lab/bench"
)

// Record is a measure after its rounds, as build/bench.json lists it.
type Record struct {
	// Name of the measure.
	Name string `json:"name"`
	// Unit of Ours and Theirs.
	Unit string `json:"unit"`
	// Ours and Theirs are medians over the rounds, Ratio is Ours divided by Theirs.
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs"`
	Ratio  float64 `json:"ratio"`
	// Spread is how far the ratios of the rounds are apart, (max-min)/median.
	Spread float64 `json:"spread"`
	// Target is what TargetKind says: a bound for Ratio, or for Ours. 0 where there is none.
	Target float64 `json:"target"`
	// Better is "lower" or "higher", for the figure and so for the ratio.
	Better     bench.Better `json:"better"`
	TargetKind TargetKind   `json:"target_kind"`
	// Rounds is how many there were, Low and High are the least and the greatest of their ratios.
	Rounds  int     `json:"rounds"`
	Verdict Verdict `json:"verdict"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	// Proof is what every side was checked for.
	Proof string `json:"proof"`
	// Textbook is what the textbook form needed in the same rounds; nil where no textbook form does this work.
	Textbook *TextbookRecord `json:"textbook,omitempty"`
}

// TextbookRecord is the textbook form's part in a record. It has no target.
type TextbookRecord struct {
	// Figure is the median over the rounds, Ratio is that divided by the record's Theirs.
	Figure float64 `json:"figure"`
	Ratio  float64 `json:"ratio"`
}

// newRecord makes the record of a measure from the figures of the rounds.
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
		return Record{}, &ProofsDifferError{Measure: m.Name, Ours: proof, Theirs: otherProof, Against: their.side}
	}
	ratios := bench.Ratios(a, b)
	if slices.ContainsFunc(ratios, math.IsNaN) {
		return Record{}, fmt.Errorf("%s: %s of %s is 0: there is no ratio to nothing", m.Name, m.Figure, their.side)
	}
	r := Record{
		Name: m.Name, Unit: m.Unit, Better: m.Better, Target: m.Target, TargetKind: m.Kind, Proof: proof, Rounds: len(a),
		Ours: bench.Median(a), Theirs: bench.Median(b), Low: slices.Min(ratios), High: slices.Max(ratios),
	}
	r.Ratio = bench.Ratios([]float64{r.Ours}, []float64{r.Theirs})[0]
	if r.Spread = bench.Spread(ratios); math.IsNaN(r.Spread) || math.IsInf(r.Spread, 0) {
		r.Spread = r.High - r.Low // around a median of nothing there is only an absolute spread
	}
	r.Verdict = judge(m, r.Ours, r.Ratio, ratios)
	return r, nil
}

// addTextbook adds what the textbook form needed. It must have done the same work.
func (r *Record) addTextbook(m Measure, e entrant, outcomes []bench.Outcome) error {
	values, proof, err := figures(m, e, outcomes)
	if err != nil {
		return err
	}
	if proof != r.Proof {
		return &ProofsDifferError{Measure: m.Name, Ours: r.Proof, Theirs: proof, Against: e.side}
	}
	figure := bench.Median(values)
	r.Textbook = &TextbookRecord{Figure: figure, Ratio: bench.Ratios([]float64{figure}, []float64{r.Theirs})[0]}
	return nil
}

// figures returns the figure of a measure in each round, and the proof, which is the same for all of them.
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
