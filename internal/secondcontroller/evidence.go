package secondcontroller

// Verdict says whether another namespace controller works.
type Verdict int

// The verdicts, in the order of how much has been learnt.
const (
	// Unknown: nothing could be seen.
	Unknown Verdict = iota
	// Suspected: kube-controller-manager is alive, and whether its namespace controller is on could not be seen.
	Suspected
	// Absent: there is none.
	Absent
	// Present: there is one, and it works.
	Present
)

// String is the verdict as a word in a log line.
func (v Verdict) String() string {
	switch v {
	case Suspected:
		return "suspected"
	case Absent:
		return "absent"
	case Present:
		return "present"
	default:
		return "unknown"
	}
}

// Evidence is a verdict and how it is known, as a part of a sentence.
type Evidence struct {
	Verdict Verdict
	How     string
}
