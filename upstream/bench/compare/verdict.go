package compare

import (
	"errors"
	"fmt"
)

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
