package compare

import "orrery/internal/lab/bench"

// Verdict is what the rounds of a measure say about its target.
type Verdict string

const (
	// Met is a target that the medians reach.
	Met Verdict = "met"
	// Missed is a target that they do not reach.
	Missed Verdict = "missed"
	// NoDifference is a measure whose rounds do not agree on who is ahead. Its ratio is noise, whatever it is.
	NoDifference Verdict = "no difference"
	// Shown is a measure without a target whose rounds do agree.
	Shown Verdict = "shown"
)

// judge says what the medians and the ratios of the rounds mean. A target for our own value needs no rival: there the
// rounds need not agree on anything.
func judge(m Measure, ours, ratio float64, ratios []float64) Verdict {
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
