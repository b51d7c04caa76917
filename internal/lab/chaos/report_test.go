package chaos

import (
	"fmt"
	"math"
	"strings"
)

// Report is the result of a run, as plain data.
type Report struct {
	Seed uint64

	Writes    int // stored by the server, from any client
	Events    int // received by handlers
	Passes    int // of the namespace controller
	Finalized int // namespaces

	// Failure is nil if the run passed.
	Failure *Failure
}

// Failure describes the errors of a run.
type Failure struct {
	// When is the point of the run at which the failure was noticed. Storm is the number of the
	// last storm before that: -1 if there was none, AfterAll if all had passed or it is not known.
	When  string
	Storm int
	// Differences are the violated rules.
	Differences []string
}

// AfterAll stands for the last storm, whatever their number.
const AfterAll = math.MaxInt

func failureOf(when string, storm int, differences []string) *Failure {
	if len(differences) == 0 {
		return nil
	}
	return &Failure{When: when, Storm: storm, Differences: differences}
}

// fill copies the counts into the report.
func (w *world) fill(r *Report) {
	r.Writes, r.Finalized = w.journal.counts()
	for _, p := range w.allProcesses() {
		for _, s := range p.subjects {
			r.Events += s.events()
		}
		if p.passes != nil {
			r.Passes += p.passes.count()
		}
	}
}

// Explain returns the failure as text: the errors, and the steps of the plan up to the point where
// they were noticed.
func (f *Failure) Explain(p Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wrong %s:\n", f.When)
	for _, difference := range f.Differences {
		fmt.Fprintf(&b, "  - %s\n", difference)
	}
	for i, storm := range p.Storms[:min(f.Storm, len(p.Storms)-1)+1] {
		fmt.Fprintf(&b, "storm %d, of %s:\n", i, storm.Length)
		for _, step := range storm.Steps {
			fmt.Fprintf(&b, "  %s\n", step)
		}
	}
	return b.String()
}
