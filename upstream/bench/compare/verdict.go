package compare

import (
	"errors"
	"fmt"
	"slices"

	"orrery/internal/lab/bench"
)

// Verdict is the result of a measure against its target.
type Verdict string

const (
	// Met: the medians reach the target.
	Met Verdict = "met"
	// Missed: the medians do not reach the target.
	Missed Verdict = "missed"
	// NoDifference: the rounds disagree on which side is ahead, so the ratio is noise.
	NoDifference Verdict = "no difference"
	// Shown: the measure has no target, and its rounds agree.
	Shown Verdict = "shown"
)

// verdictOf returns the verdict on the medians and the ratios of the rounds. A target for our own
// value needs no agreement of the rounds.
func verdictOf(m Measure, ours, ratio float64, ratios []float64) Verdict {
	switch {
	case m.Kind == Value && m.reached(ours, m.Target):
		return Met
	case m.Kind == Value:
		return Missed
	case !bench.Differ(ratios):
		return NoDifference
	case m.Kind == None:
		return Shown
	case m.reached(ratio, m.Target):
		return Met
	default:
		return Missed
	}
}

// MissedTargets returns an error that names every record below its target, or nil.
func MissedTargets(measures []Measure, records []Record) error {
	var missed []error
	for _, r := range records {
		i := slices.IndexFunc(measures, func(m Measure) bool { return m.Name == r.Name })
		if i < 0 || r.TargetKind == None {
			continue
		}
		got, text := r.Ratio, "the ratio is "+times(r.Ratio)
		if r.TargetKind == Value {
			got, text = r.Ours, "it is "+human(r.Ours, r.Unit)
		}
		if !measures[i].reached(got, r.Target) {
			missed = append(missed, fmt.Errorf("%s: %s, and the target is %s", r.Name, text, wanted(r)))
		}
	}
	return errors.Join(missed...)
}
