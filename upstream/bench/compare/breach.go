package compare

import (
	"errors"
	"fmt"
	"slices"
)

// MissedTargets returns an error that names every record that misses its target, or nil.
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
