package why

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"orrery/internal/words"
)

// Reports are the reports on several namespaces. The zero value says that none is terminating.
type Reports struct {
	APIVersion string   `json:"apiVersion" yaml:"apiVersion"`
	ExitCode   int      `json:"exitCode" yaml:"exitCode"`
	Reports    []Report `json:"reports" yaml:"reports"`
}

// JudgeAll judges each evidence. The exit code is the highest of the reports.
func JudgeAll(all []Evidence) Reports {
	r := Reports{APIVersion: ReportVersion, Reports: []Report{}}
	for _, e := range all {
		report := Judge(e)
		r.Reports = append(r.Reports, report)
		r.ExitCode = max(r.ExitCode, report.ExitCode)
	}
	return r
}

// WriteText writes a row for each namespace. width is the terminal's width, or 0 for a file or a
// pipe.
func (r Reports) WriteText(w io.Writer, width int) error {
	if len(r.Reports) == 0 {
		_, err := fmt.Fprintln(w, "no namespace is Terminating")
		return err
	}
	if width == 0 {
		width = 2 * reportWidth
	}
	name, causes := len("NAMESPACE"), len("CAUSES")
	for _, report := range r.Reports {
		name, causes = max(name, len(report.Namespace)), max(causes, len(report.causes()))
	}
	var text strings.Builder
	line := func(cells ...string) {
		row := fmt.Sprintf("%-*s  %-11s  %-*s  ", name, cells[0], cells[1], causes, cells[2])
		for i, part := range words.Wrap(cells[3], max(40, width-len(row))) {
			if i > 0 {
				row = strings.Repeat(" ", len(row))
			}
			fmt.Fprintln(&text, strings.TrimRight(row+part, " "))
		}
	}
	line("NAMESPACE", "VERDICT", "CAUSES", "WHAT")
	for _, report := range r.Reports {
		line(report.Namespace, string(report.Verdict), report.causes(), report.Sentence)
	}
	for _, ended := range r.incomplete() {
		fmt.Fprintf(&text, "The examination ended early: %s\n", words.OneLine(ended))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// incomplete returns why examinations ended early, each reason once.
func (r Reports) incomplete() (reasons []string) {
	for _, report := range r.Reports {
		if reason := report.Checked.Incomplete; reason != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// causes returns the ids of the findings, each once. A question mark follows one that is not
// proven.
func (r Report) causes() string {
	var ids []string
	for _, f := range r.Findings {
		id := f.ID
		if f.Certainty != Proven {
			id += "?"
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return "-"
	}
	return strings.Join(ids, ",")
}

// State is what --watch compares. It depends on the verdict, the findings and the number of
// objects, not on the time.
func (r Report) State() string {
	state := fmt.Sprintf("%s %d", r.Verdict, r.Checked.Objects)
	for _, f := range r.Findings {
		state += fmt.Sprintf(" %s %s %s", f.ID, f.Certainty, f.Culprit)
	}
	return state
}

// Changes returns a line for each namespace whose state is not that of last, which it brings up to
// date: it has the namespaces that are terminating.
func (r Reports) Changes(last map[string]string) (lines []string) {
	there := map[string]bool{}
	for _, report := range r.Reports {
		there[report.Namespace] = true
		if report.Verdict == Absent || report.Verdict == Active {
			lines = append(lines, report.Sentence)
			delete(last, report.Namespace)
		} else if state := report.State(); state != last[report.Namespace] {
			lines = append(lines, report.Sentence)
			last[report.Namespace] = state
		}
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if !there[name] {
			lines = append(lines, fmt.Sprintf("namespace %q is gone", name))
			delete(last, name)
		}
	}
	return lines
}
