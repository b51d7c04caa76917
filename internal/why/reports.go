package why

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

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

// WriteText writes a row for each namespace.
func (r Reports) WriteText(w io.Writer) error {
	if len(r.Reports) == 0 {
		_, err := fmt.Fprintln(w, "no namespace is Terminating")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tVERDICT\tCAUSES\tWHAT")
	for _, report := range r.Reports {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", report.Namespace, report.Verdict, report.causes(), report.Sentence)
	}
	said := map[string]bool{"": true}
	for _, report := range r.Reports {
		if reason := words.OneLine(report.Checked.Incomplete); !said[reason] {
			fmt.Fprintf(table, "The examination ended early: %s\n", reason)
			said[reason] = true
		}
	}
	return table.Flush()
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
