package report

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"orrery/internal/lab/bench"
)

// Sweep writes a row for each result, beginning with the value of the varied parameter. Latencies
// have a table of their own.
func Sweep(w io.Writer, varied string, results []*bench.Result) error {
	if len(results) == 0 {
		return nothing(w)
	}
	var text strings.Builder
	isVaried := func(name string) bool { return flagName(name) == flagName(varied) }
	same, different := divide(parameterNames(results), results)
	heading(&text, results, slices.DeleteFunc(same, isVaried))

	first := []attribute{parameterAttribute(varied)}
	if slices.ContainsFunc(results, func(r *bench.Result) bool { return r.Subject != results[0].Subject }) {
		first = append(first, subjectAttribute("subject"))
	}
	figures := slices.Clone(first)
	for _, name := range slices.DeleteFunc(different, isVaried) {
		figures = append(figures, parameterAttribute(name))
	}
	rows(append(figures, figureAttributes(results)...), results).write(&text)
	if latencies := latencyAttributes(results); latencies != nil {
		text.WriteString("\nlatency, from when it was due\n")
		rows(append(first, latencies...), results).write(&text)
	}
	sweepProofs(&text, results)
	_, err := io.WriteString(w, text.String())
	return err
}

// rows returns a table with a header and a row for each result.
func rows(columns []attribute, results []*bench.Result) cells {
	table := header(columns)
	for _, result := range results {
		row := make([]string, len(columns))
		for i, column := range columns {
			row[i] = column.human(result)
		}
		table.add(row...)
	}
	return table
}

// header returns the names of columns, wrapped and aligned at the bottom.
func header(columns []attribute) cells {
	broken := make([][]string, len(columns))
	height := 1
	for i, column := range columns {
		broken[i] = brokenName(column.name)
		height = max(height, len(broken[i]))
	}
	table := make(cells, height)
	for line := range table {
		for _, name := range broken {
			text := ""
			if from := line - (height - len(name)); from >= 0 {
				text = name[from]
			}
			table[line] = append(table[line], text)
		}
	}
	return table
}

// headerWidth is the preferred width of a column's name.
const headerWidth = 12

func brokenName(name string) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(name) {
		last := &lines[len(lines)-1]
		if *last != "" && utf8.RuneCountInString(*last+" "+word) > headerWidth {
			lines = append(lines, word)
			continue
		}
		*last = strings.TrimSpace(*last + " " + word)
	}
	return lines
}

// sweepProofs writes the checks of the first run. Those of the others differ only in numbers.
func sweepProofs(text *strings.Builder, results []*bench.Result) {
	if len(results[0].Proof) == 0 {
		return
	}
	text.WriteString("\nchecked in each run; in the first:\n")
	for _, proof := range results[0].Proof {
		writeSentence(text, proof)
	}
}
