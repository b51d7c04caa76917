package chaos

import (
	"fmt"
	"math"
	"strings"
)

// Report is what came of a run, as plain data.
type Report struct {
	Seed uint64

	Writes    int // that the server stored, of whomever
	Events    int // that handlers were told
	Passes    int // of the namespace controller
	Finalized int // namespaces

	// Failure is what was wrong, nil if nothing.
	Failure *Failure
}

// Failure is what was wrong in a run.
type Failure struct {
	// When says at which point of the run it was noticed, Storm is the number of the last storm before that: -1 if there
	// was none, AfterAll if all had passed, or if it is not known.
	When  string
	Storm int
	// Differences say what is not as it has to be.
	Differences []string
}

// AfterAll is the number of the last storm, however many there are.
const AfterAll = math.MaxInt

func failureOf(when string, storm int, differences []string) *Failure {
	if len(differences) == 0 {
		return nil
	}
	return &Failure{When: when, Storm: storm, Differences: differences}
}

// fill puts into the report what was counted.
func (w *world) fill(r *Report) {
	r.Writes, r.Finalized = w.journal.counts()
	for _, p := range w.everybody() {
		for _, s := range p.subjects {
			r.Events += s.events()
		}
		if p.passes != nil {
			r.Passes += p.passes.count()
		}
	}
}

// Explain returns the failure as text: what was wrong, and the steps of the plan up to the point where it was noticed.
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
