package why

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"orrery/internal/words"
)

// reportWidth is the greatest width of a report, and its width in a file or a pipe.
const reportWidth = 100

// within returns the width of a report on a terminal of that width, or for 0 in a file or a pipe.
func within(width int) int { return min(cmp.Or(width, reportWidth), reportWidth) }

// WriteText writes the report for people: one sentence, a block for each finding, and how far the
// examination went. width is that of the terminal, or 0 for a file or a pipe. wide has the requests
// of the evidence.
func (r Report) WriteText(w io.Writer, wide bool, width int) error {
	width = within(width)
	var text strings.Builder
	fmt.Fprintln(&text, r.Sentence)                 // one line: what a server says begins none
	if r.Verdict != Absent && r.Verdict != Active { // then the sentence says it all
		for _, f := range r.Findings {
			fmt.Fprintln(&text)
			for _, line := range f.block(wide, width) {
				fmt.Fprintln(&text, strings.TrimRight(line, " "))
			}
		}
		fmt.Fprintf(&text, "\n%s\n", words.OneLine(r.Checked.line(r.Verdict)))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// line returns the line about how much was examined.
func (c Checked) line(verdict Verdict) string {
	read := fmt.Sprintf("%d types read", c.Types)
	if len(c.Unread) > 0 {
		read += ", unread: " + c.unread()
	}
	took := fmt.Sprintf("%s, %.1f s", words.Count(c.Requests, "request"), c.Took.Seconds())
	if c.Waited > 0 {
		took += fmt.Sprintf(" + %.0f s", c.Waited.Seconds())
	}
	if c.Incomplete != "" {
		took += "; ended early: " + c.Incomplete
	}
	return fmt.Sprintf("%s; %s; %s; %s", verdict, read, c.left(), took)
}

// left says how many objects are left: what was not read may have more.
func (c Checked) left() string {
	if c.Objects == 0 && (len(c.Unread) > 0 || c.Types == 0) {
		return "no object seen"
	}
	left := words.Count(c.Objects, "object") + " left"
	if len(c.Unread) > 0 {
		left = "at least " + left
	}
	var first []string
	for _, b := range c.Left {
		first = append(first, b.Resource+"/"+b.Examples[0])
	}
	switch {
	case len(first) == 0:
		return left
	case len(first) == c.Objects:
		return left + ": " + listed(first)
	}
	return left + ", such as " + listed(first)
}

// unread lists the first unread types, with the reason of the first; -o json has all of them.
func (c Checked) unread() string {
	list := types(c.Unread)
	if reason := c.Reasons[c.Unread[0]]; reason != "" {
		list += " (" + reason + ")"
	}
	return list
}

// block returns the lines of a finding.
func (f Finding) block(wide bool, width int) []string {
	var evidence []string
	for _, p := range f.Proof {
		if wide && p.Request != "" {
			p.Says += fmt.Sprintf(" [sample %d: %s]", p.Sample, p.Request)
		}
		evidence = append(evidence, p.Says)
	}
	for _, m := range f.Missing {
		evidence = append(evidence, "not proven: "+m)
	}
	return slices.Concat(
		[]string{fmt.Sprintf("%s  %s (%s)", f.ID, f.Title, f.Certainty)},
		field("BLOCKED BY", f.blockedBy(), width),
		field("EVIDENCE", evidence, width),
		field("DO", f.Do, width),
		field("DO NOT", f.DoNot, width),
	)
}

// blockedBy names the culprit, and how many objects of which types it keeps.
func (f Finding) blockedBy() []string {
	all := []string{f.Culprit.whole()}
	for _, b := range f.Blocks {
		if b.Count > 1 || b.Count == 1 && b.Resource != f.Culprit.Resource {
			all = append(all, "keeps "+b.objects())
		}
	}
	return all
}

// field returns the lines of one part of a block, with its name before the first one. A word is
// never broken, so that a name can be copied.
func field(name string, texts []string, width int) (lines []string) {
	for _, text := range texts {
		for _, line := range words.Wrap(text, max(20, width-14)) {
			lines, name = append(lines, fmt.Sprintf("  %-10s  %s", name, line)), ""
		}
	}
	return lines
}

// Reports names the issues of kubernetes/kubernetes that report the cause.
func (c Cause) Reports() string {
	var issues []string
	for _, issue := range c.Issues {
		issues = append(issues, fmt.Sprintf("kubernetes/kubernetes#%d", issue))
	}
	return strings.Join(issues, ", ")
}

// WriteExplanation writes the lesson on one cause.
func (c Cause) WriteExplanation(w io.Writer, width int) error {
	width = within(width)
	var text strings.Builder
	fmt.Fprintf(&text, "%s  %s\n", c.ID, c.Title)
	paragraph := func(head, body string) {
		if body == "" {
			return
		}
		fmt.Fprintln(&text)
		if head != "" {
			fmt.Fprintln(&text, head)
		}
		for _, line := range words.Wrap(body, width) {
			fmt.Fprintln(&text, line)
		}
	}
	paragraph("", c.Lesson)
	paragraph("PROOF", c.Proof)
	fmt.Fprintln(&text, "\nDO")
	for _, do := range c.Do {
		fmt.Fprintln(&text, "- "+strings.Join(words.Wrap(do, width-2), "\n  "))
	}
	paragraph("DO NOT", c.DoNot)
	paragraph("REPORTED AS", c.Reports())
	_, err := io.WriteString(w, text.String())
	return err
}

// Reports are the reports on several namespaces. The zero value says that none is terminating.
type Reports struct {
	APIVersion string   `json:"apiVersion"`
	ExitCode   int      `json:"exitCode"`
	Reports    []Report `json:"reports"`
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

// WriteJSON writes a [Report], [Reports] or another document as JSON.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// Save writes the evidence to a file that its owner alone can read. It replaces an older file, and
// refuses to replace anything else, such as a link or a device.
func (e Evidence) Save(path string) error {
	e.APIVersion = EvidenceVersion
	var text bytes.Buffer
	if err := WriteJSON(&text, e); err != nil {
		return fmt.Errorf("the evidence cannot be written: %w", err)
	}
	if err := replaceFile(path, text.Bytes()); err != nil {
		return fmt.Errorf("the evidence cannot be saved: %w", err)
	}
	return nil
}

func replaceFile(path string, content []byte) error {
	if old, err := os.Lstat(path); err == nil && !old.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".evidence-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "new")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return err
	}
	return os.Rename(file, path)
}

// Load reads saved evidence. It fails if the file is not one that [Evidence.Save] has written.
func Load(path string) (Evidence, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Evidence{}, fmt.Errorf("the evidence cannot be read: %w", err)
	}
	var e Evidence
	if err := json.Unmarshal(text, &e); err != nil {
		return Evidence{}, fmt.Errorf("%s is not saved evidence: %w", path, err)
	}
	if e.APIVersion != EvidenceVersion {
		return Evidence{}, fmt.Errorf("%s is not saved evidence of this version: its apiVersion is %q, not %q", path,
			e.APIVersion, EvidenceVersion)
	}
	if !IsNamespaceName(e.Name) {
		return Evidence{}, fmt.Errorf("%s is not saved evidence: %q is not the name of a namespace", path, e.Name)
	}
	return e, nil
}

// IsNamespaceName reports whether a namespace may be called so.
func IsNamespaceName(name string) bool { return namespaceName().MatchString(name) }

var namespaceName = lazyPattern(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
