package why

import (
	"fmt"
	"io"
	"strings"

	"orrery/internal/words"
)

// WritePlan writes kubectl's commands for people, in the order of the findings, the safe ones of
// each first. Findings of one cause about one object have a command once, also those of several
// namespaces.
func WritePlan(w io.Writer, reports ...Report) error {
	var text strings.Builder
	written, last := map[string]bool{}, ""
	for _, report := range reports {
		for _, f := range report.Findings {
			head := fmt.Sprintf("\n%s  %s\n", f.ID, f.Culprit.whole())
			for _, r := range f.Remedies {
				if written[head+r.Command] {
					continue
				}
				written[head+r.Command] = true
				if head != last {
					text.WriteString(head)
					last = head
				}
				if r.Loses != "" {
					fmt.Fprintf(&text, "  ⚠ last resort, %s:\n", words.OneLine(r.loss()))
				}
				if r.When != "" {
					fmt.Fprintf(&text, "  %s:\n", r.When)
				}
				fmt.Fprintf(&text, "  %s\n", r.Command)
			}
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// loss returns what the remedy loses, as a clause.
func (r Remedy) loss() string {
	if strings.HasPrefix(r.Loses, StaysBehind) {
		return r.Loses
	}
	return "loses " + r.Loses
}
