package compare

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Line formats a record as one line.
func Line(r Record) string {
	line := fmt.Sprintf("%s: %s, theirs %s, ratio %s (%s)", r.Name, human(r.Ours, r.Unit), human(r.Theirs, r.Unit), times(r.Ratio), reach(r))
	if want := wanted(r); want != "" {
		line += ", wanted " + want
	}
	return line + ": " + string(r.Verdict)
}

// WriteTable writes the records as a table for a terminal.
func WriteTable(w io.Writer, records []Record) error {
	rows := [][]string{{"measure", "ours", "theirs", "textbook", "ratio", "rounds", "target", ""}}
	for _, r := range records {
		rows = append(rows, []string{
			r.Name, human(r.Ours, r.Unit), human(r.Theirs, r.Unit), textbook(r), times(r.Ratio), reach(r), wanted(r), string(r.Verdict),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 || i == len(row)-1 {
				line.WriteString(cell + pad + "  ") // words align left, numbers right
			} else {
				line.WriteString(pad + cell + "  ")
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Summary returns a sentence about how many targets are met.
func Summary(records []Record) string {
	count := make(map[Verdict]int)
	for _, r := range records {
		count[r.Verdict]++
	}
	if n := count[Shown]; n == len(records) {
		return fmt.Sprintf("%d measures, none with a target", n)
	}
	targets := len(records) - count[Shown]
	text := fmt.Sprintf("%d of %d targets met", count[Met], targets)
	if n := count[Missed]; n > 0 {
		text += fmt.Sprintf(", %d missed", n)
	}
	return text
}
