package compare

import (
	"fmt"
	"slices"
)

// Breach is a record that is not even half as good as its target, or as what is possible.
type Breach struct {
	// Name of the measure.
	Name string
	// Text says what it is and what it should at least be.
	Text string
}

// Broken returns the breaches. They are what fails a build: noise does not do that, a regression does.
func Broken(measures []Measure, records []Record) []Breach {
	var broken []Breach
	for _, r := range records {
		i := slices.IndexFunc(measures, func(m Measure) bool { return m.Name == r.Name })
		if i < 0 || r.TargetKind == None {
			continue
		}
		m, got := measures[i], r.Ratio
		if r.TargetKind == Value {
			got = r.Ours
		}
		if m.reached(got, m.guard()) {
			continue
		}
		limit := r
		limit.Target = m.guard()
		text := fmt.Sprintf("%s: the ratio is %s", r.Name, times(r.Ratio))
		if r.TargetKind == Value {
			text = fmt.Sprintf("%s: it is %s", r.Name, human(r.Ours, r.Unit))
		}
		half := "half of the target"
		if m.Reached != 0 {
			half = "half of what was possible"
		}
		broken = append(broken, Breach{Name: r.Name, Text: fmt.Sprintf("%s, and %s would be %s", text, half, wanted(limit))})
	}
	return broken
}
