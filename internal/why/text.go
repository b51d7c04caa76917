package why

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"orrery/internal/program"
	"orrery/internal/terminal"
)

// narrow is the width below which a report is written as records instead of a table.
const narrow = 100

// widths are the columns of the table: id, what blocks, proof, do, do not.
var widths = []int{4, 28, 36, 32, 26}

// WriteText writes the report for people: one sentence, the findings, and how far the examination
// went. width is that of the terminal, or 0 for a file or a pipe. The findings are a table; with
// wide, or on a terminal of less than 100 columns, they are records, one below the other. wide adds
// the request behind each proof.
func (r Report) WriteText(w io.Writer, wide bool, width int) error {
	var text strings.Builder
	fmt.Fprintln(&text, r.Sentence)
	shown := r.Findings
	if r.Verdict == Absent || r.Verdict == Active {
		shown = nil // the sentence says it all
	}
	switch {
	case len(shown) == 0:
	case width > 0 && width < narrow || wide:
		records(&text, shown, wide, width)
	default:
		table(&text, shown)
	}
	if r.Verdict != Absent && r.Verdict != Active {
		fmt.Fprintln(&text, terminal.OneLine(r.Checked.line(r.Verdict)))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// line returns the line about how much was examined.
func (c Checked) line(verdict Verdict) string {
	parts := []string{fmt.Sprintf("%s types read", number(c.Types, len(c.Unread)))}
	if slices.Contains(c.Unread, everyType) {
		parts[0] = "no type read"
	}
	if len(c.Unread) > 0 {
		parts[0] += ", unread: " + c.unread()
	}
	took := fmt.Sprintf("%.1f s", c.Took.Seconds())
	if c.Waited > 0 {
		took += fmt.Sprintf(" + %.0f s", c.Waited.Seconds())
	}
	if c.Types == 0 && len(c.Unread) == 0 {
		parts[0] = "nothing was read"
	} else {
		parts = append(parts, c.left())
	}
	parts = append(parts, counted(c.Requests, "request")+", "+took)
	if c.Incomplete != "" {
		parts = append(parts, "ended early: "+c.Incomplete)
	}
	return string(verdict) + "; " + strings.Join(parts, "; ")
}

// left says how many objects are left: what was not read may have more.
func (c Checked) left() string {
	switch {
	case len(c.Unread) == 0:
		return counted(c.Objects, "object") + " left"
	case c.Objects == 0:
		return "no object seen"
	}
	return "at least " + counted(c.Objects, "object") + " left"
}

// manyNames is how many unread types of one reason are printed.
const manyNames = 12

// unread lists the unread types. Those with the same reason stand together, before it.
func (c Checked) unread() string {
	var reasons []string
	names := map[string][]string{}
	for _, name := range c.Unread {
		reason := c.Reasons[name]
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		names[reason] = append(names[reason], name)
	}
	var parts []string
	for _, reason := range reasons {
		part := strings.Join(names[reason], ", ")
		if len(names[reason]) > manyNames { // -o json has them all
			part = types(names[reason])
		}
		if reason != "" {
			part += " (" + reason + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

func number(read, unread int) string {
	if unread == 0 {
		return fmt.Sprint("all ", read)
	}
	return fmt.Sprintf("%d of %d", read, read+unread)
}

// columns are the cells of a finding, as in widths.
func (f Finding) columns() []string {
	what := f.Culprit.String()
	if f.Culprit.Namespace != "" {
		what = f.Culprit.Resource + " " + f.Culprit.Namespace + "/" + f.Culprit.Name
	}
	if f.Certainty != Proven {
		what += " (" + string(f.Certainty) + ")"
	}
	for _, b := range f.Blocks {
		if b.Count > 0 {
			what += ", " + objects(b.Count, b.Resource)
		}
	}
	var proof []string
	for _, p := range f.Proof {
		proof = append(proof, p.Says)
	}
	for _, m := range f.Missing {
		proof = append(proof, "not proven: "+m)
	}
	return []string{f.ID, what, strings.Join(proof, "; "), strings.Join(f.Do, "; or "), strings.Join(f.DoNot, "; ")}
}

func table(w io.Writer, findings []Finding) {
	row(w, [][]string{{"ID"}, {"WHAT BLOCKS"}, {"PROOF"}, {"DO THIS"}, {"DO NOT"}})
	for _, f := range findings {
		cells := make([][]string, len(widths))
		for i, cell := range f.columns() {
			cells[i] = wrapped(cell, widths[i])
		}
		row(w, cells)
	}
}

// wrapped breaks a text into lines of at most width bytes, also inside long words.
func wrapped(text string, width int) (lines []string) {
	for _, line := range program.Wrapped(text, width) {
		for len(line) > width {
			at := width
			if dot := strings.LastIndexAny(line[:width], ".-/:="); dot > width/2 {
				at = dot + 1
			}
			lines, line = append(lines, line[:at]), line[at:]
		}
		lines = append(lines, line)
	}
	return lines
}

// row writes cells of several lines beside each other.
func row(w io.Writer, cells [][]string) {
	for i := 0; ; i++ {
		var line strings.Builder
		more := false
		for column, cell := range cells {
			text := ""
			if i < len(cell) {
				text, more = cell[i], true
			}
			fmt.Fprintf(&line, "%-*s ", widths[column], text)
		}
		if !more {
			return
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// records writes the findings one below the other.
func records(w io.Writer, findings []Finding, wide bool, width int) {
	if width == 0 {
		width = narrow
	}
	field := func(name, text string) {
		for i, line := range program.Wrapped(text, max(20, width-10)) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(w, "  %-7s %s\n", name, line)
		}
	}
	for _, f := range findings {
		columns := f.columns()
		fmt.Fprintf(w, "\n%s  %s (%s)\n", f.ID, f.Title, f.Certainty)
		field("what", columns[1])
		for _, p := range f.Proof {
			says := p.Says
			if wide && p.Request != "" {
				says += fmt.Sprintf(" [sample %d: %s]", p.Sample, p.Request)
			}
			field("proof", says)
		}
		for _, m := range f.Missing {
			field("missing", m)
		}
		for _, do := range f.Do {
			field("do", do)
		}
		for _, not := range f.DoNot {
			field("do not", not)
		}
	}
	fmt.Fprintln(w)
}

// WriteExplanation writes the lesson on one cause.
func (c Cause) WriteExplanation(w io.Writer, width int) error {
	if width == 0 || width > narrow {
		width = narrow
	}
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
		for _, line := range program.Wrapped(body, width) {
			fmt.Fprintln(&text, line)
		}
	}
	paragraph("", c.Lesson)
	paragraph("PROOF", c.Proof)
	fmt.Fprintln(&text, "\nDO THIS")
	for _, do := range c.Do {
		fmt.Fprintln(&text, "- "+strings.Join(program.Wrapped(do, width-2), "\n  "))
	}
	paragraph("DO NOT", c.DoNot)
	if len(c.Issues) > 0 {
		var issues []string
		for _, issue := range c.Issues {
			issues = append(issues, fmt.Sprintf("kubernetes/kubernetes#%d", issue))
		}
		paragraph("REPORTED AS", strings.Join(issues, ", "))
	}
	_, err := io.WriteString(w, text.String())
	return err
}
