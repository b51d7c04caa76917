// Package fix prints the remedies of a report, and applies one of them.
//
//	Report ──▶ Plan ──▶ []Remedy ──▶ Print            kubectl's commands, the safe ones first
//	                        └──────▶ Find ──▶ Apply   one write, bound by its digest to what was seen
//
// Only a remedy with a [why.Write] can be applied: it removes one finalizer whose owner is gone or
// one foreign token, or deletes an APIService without a Service. Apply refuses everything else.
package fix

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"orrery/internal/why"
)

// Remedy is one way to end the cause of a finding.
type Remedy struct {
	why.Remedy
	// Cause is the finding's id, and Culprit the object that it names.
	Cause   string
	Culprit why.Reference
}

// Plan returns the remedies of a report in the order of the findings, the safe ones of each first.
// Findings of one cause about one object have a command once.
func Plan(report why.Report) []Remedy {
	var plan []Remedy
	for _, finding := range report.Findings {
		for _, remedy := range finding.Remedies {
			next := Remedy{Remedy: remedy, Cause: finding.ID, Culprit: finding.Culprit}
			if !slices.ContainsFunc(plan, func(r Remedy) bool {
				return r.Cause == next.Cause && r.Culprit == next.Culprit && r.Command == next.Command
			}) {
				plan = append(plan, next)
			}
		}
	}
	return plan
}

// Find returns the remedy with a digest. It returns a [RefusedError] if no remedy has it.
func Find(report why.Report, digest string) (Remedy, error) {
	for _, remedy := range Plan(report) {
		if remedy.Digest != "" && remedy.Digest == digest {
			return remedy, nil
		}
	}
	return Remedy{}, &RefusedError{Digest: digest, Err: errDigest}
}

var errDigest = errors.New("it does not come out again: the cluster, the object or the verdict is another one now; --fix prints the present ones")

// RefusedError says why a remedy was not applied. Nothing was written.
type RefusedError struct {
	Digest string
	Err    error
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s was not applied: %v", e.Digest, e.Err) }

func (e *RefusedError) Unwrap() error { return e.Err }

// Print writes a plan for people: kubectl's commands, and the digests of the remedies that can be
// applied. command is the one that has planned, such as "orrery why shop".
func Print(w io.Writer, command string, plan []Remedy) error {
	var text strings.Builder
	for i, r := range plan {
		if i == 0 || plan[i-1].Cause != r.Cause || plan[i-1].Culprit != r.Culprit {
			fmt.Fprintf(&text, "\n%s  %s\n", r.Cause, r.Culprit)
		}
		if r.Loses != "" {
			fmt.Fprintf(&text, "  ⚠ last resort, %s:\n", loss(r))
		}
		if r.When != "" {
			fmt.Fprintf(&text, "  %s:\n", r.When)
		}
		fmt.Fprintf(&text, "  %s\n", r.Command)
		if r.Digest != "" {
			fmt.Fprintf(&text, "  or, bound to what was seen:  %s --apply --confirm %s\n", command, r.Digest)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// loss returns what the remedy loses, as a clause.
func loss(r Remedy) string {
	if strings.HasPrefix(r.Loses, why.StaysBehind) {
		return r.Loses
	}
	return "loses " + r.Loses
}

// Done describes the write in the past tense.
func (r Remedy) Done() string {
	w := r.Write
	switch {
	case w == nil:
		return r.Command
	case w.List == "":
		return fmt.Sprintf("deleted %s/%s", w.Resource, w.Name)
	}
	return fmt.Sprintf("removed %s from %s of %s/%s", w.Finalizer, w.List, w.Resource, w.Name)
}
