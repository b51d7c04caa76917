package why

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"orrery/internal/words"
)

// Planned is a remedy with what it ends.
type Planned struct {
	Remedy
	// Cause is the finding's id, and Culprit the object that it names.
	Cause   string
	Culprit Reference
}

// Plan returns the remedies of reports in the order of the findings, the safe ones of each first.
// Findings of one cause about one object have a command once, also those of several namespaces.
func Plan(reports ...Report) []Planned {
	var plan []Planned
	for _, report := range reports {
		for _, finding := range report.Findings {
			for _, remedy := range finding.Remedies {
				next := Planned{Remedy: remedy, Cause: finding.ID, Culprit: finding.Culprit}
				if !slices.ContainsFunc(plan, next.isSame) {
					plan = append(plan, next)
				}
			}
		}
	}
	return plan
}

func (p Planned) isSame(other Planned) bool {
	return p.Cause == other.Cause && p.Culprit == other.Culprit && p.Command == other.Command
}

// WritePlan writes a plan for people: kubectl's commands, the safe ones of each finding first.
func WritePlan(w io.Writer, plan []Planned) error {
	var text strings.Builder
	for i, r := range plan {
		if i == 0 || plan[i-1].Cause != r.Cause || plan[i-1].Culprit != r.Culprit {
			fmt.Fprintf(&text, "\n%s  %s\n", r.Cause, r.Culprit.whole())
		}
		if r.Loses != "" {
			fmt.Fprintf(&text, "  ⚠ last resort, %s:\n", words.OneLine(loss(r.Remedy)))
		}
		if r.When != "" {
			fmt.Fprintf(&text, "  %s:\n", r.When)
		}
		fmt.Fprintf(&text, "  %s\n", r.Command)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// loss returns what the remedy loses, as a clause.
func loss(r Remedy) string {
	if strings.HasPrefix(r.Loses, StaysBehind) {
		return r.Loses
	}
	return "loses " + r.Loses
}
