package why

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"orrery/internal/terminal"
)

// Planned is a remedy with what it ends.
type Planned struct {
	Remedy
	// Cause is the finding's id, and Culprit the object that it names.
	Cause   string
	Culprit Reference
}

// Plan returns the remedies of a report in the order of the findings, the safe ones of each first.
// Findings of one cause about one object have a command once.
func Plan(report Report) []Planned {
	var plan []Planned
	for _, finding := range report.Findings {
		for _, remedy := range finding.Remedies {
			next := Planned{Remedy: remedy, Cause: finding.ID, Culprit: finding.Culprit}
			if !slices.ContainsFunc(plan, func(r Planned) bool {
				return r.Cause == next.Cause && r.Culprit == next.Culprit && r.Command == next.Command
			}) {
				plan = append(plan, next)
			}
		}
	}
	return plan
}

// WritePlan writes a plan for people: kubectl's commands, the safe ones of each finding first.
func WritePlan(w io.Writer, plan []Planned) error {
	var text strings.Builder
	for i, r := range plan {
		if i == 0 || plan[i-1].Cause != r.Cause || plan[i-1].Culprit != r.Culprit {
			fmt.Fprintf(&text, "\n%s  %s\n", r.Cause, r.Culprit)
		}
		if r.Loses != "" {
			fmt.Fprintf(&text, "  ⚠ last resort, %s:\n", terminal.OneLine(loss(r.Remedy)))
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
