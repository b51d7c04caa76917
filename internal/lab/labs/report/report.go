package report

import (
	"orrery/internal/lab/labs/stub"
)

// State is how far a step is.
type State string

const (
	Passed State = "passed"
	Failed State = "failed"
	Open   State = "open" // not run
)

// Step is a step with its state.
type Step struct {
	Name  string `json:"name"`
	State State  `json:"state"`
}

// Report is the result of "lab test".
type Report struct {
	Lab string `json:"lab"`
	// Passed reports that every step passed and go vet found nothing.
	Passed bool   `json:"passed"`
	Steps  []Step `json:"steps"`
	// Tests is how many tests passed in the steps that passed, subtests included.
	Tests   int     `json:"-"`
	Seconds float64 `json:"seconds"`
	// Race reports whether the race detector took part.
	Race bool `json:"race"`

	// Missing, Build and NoModule say why the build failed: functions that others use, errors of
	// the compiler, an import without a module.
	Missing  []stub.Missing `json:"missing,omitempty"`
	Build    []BuildError   `json:"build,omitempty"`
	NoModule string         `json:"noModule,omitempty"`

	Failure *Failure `json:"failure,omitempty"`
	// Look are the functions that the failure is about.
	Look []Frame `json:"look,omitempty"`
	// Unwritten are all functions that are still stubs.
	Unwritten []Frame `json:"unwritten,omitempty"`
	// Hint is the id of the hint for this failure.
	Hint string `json:"hint,omitempty"`

	Vet []BuildError `json:"vet,omitempty"`
	// Edited are other files of the package whose changes are not used.
	Edited []string `json:"edited,omitempty"`
	// Changed are pages of the reference that are not as they were when the lab was started.
	Changed []string `json:"changed,omitempty"`
}

// Done returns the number of steps that passed.
func (r *Report) Done() int {
	done := 0
	for _, step := range r.Steps {
		if step.State == Passed {
			done++
		}
	}
	return done
}
