// Package report writes the results of benchmarks. [Table] is for readers, with numbers of three
// digits and a prefix: 4.2 M/s, 310 ns, 12.3 MiB; [Human] formats them, for plots too. [JSON]
// and [Benchfmt] are for programs: their numbers are never scaled or rounded and their names are
// stable. A missing value is null in JSON and a dash in a table, never a zero.
//
// Pictures are SVG, drawn with gonum/plot: [Dots] compare single numbers, [Lines] show a number
// over a parameter. The picture depends on the struct only, so a picture in the repository changes
// only with its figures. Series differ in colour and in the shape of their marks. NaN is omitted,
// and an axis with a value that is not positive is linear.
package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"orrery/internal/lab/bench"
	"orrery/internal/words"
)

// Table writes the machine, the parameters that all results share, and a column for each result,
// with a row for each figure and percentile and the spread of its rounds. If a parameter was
// varied, each result is a row instead, beginning with its value. The checks follow: those of the
// first result if a parameter was varied, because the others differ in numbers only.
func Table(w io.Writer, where Machine, varied string, all []Rounds) error {
	if len(all) == 0 {
		_, err := io.WriteString(w, "No results.\n")
		return err
	}
	var results []*bench.Result
	for _, rounds := range all {
		results = append(results, rounds.Median())
	}
	var text strings.Builder
	text.WriteString("bench " + results[0].Bench + "\n")
	writeWrapped(&text, where.String())
	if warning := where.Busy(); warning != "" {
		writeWrapped(&text, warning)
	}
	same, different := divide(results, varied)
	for i, name := range same {
		same[i] = name + " " + parameter(name).human(results[0])
	}
	if len(same) > 0 {
		writeWrapped(&text, strings.Join(same, ", "))
	}
	if len(all[0]) > 1 {
		writeWrapped(&text, "in parentheses: the spread of the rounds, (max-min)/median")
	}
	text.WriteString("\n")

	var first []Column
	if varied != "" {
		first = append(first, parameter(strings.ReplaceAll(varied, "-", " ")))
	}
	several := slices.ContainsFunc(results, func(r *bench.Result) bool { return r.Subject != results[0].Subject })
	if varied == "" || several {
		name := "subject"
		if varied == "" {
			name = "" // the columns say it
		}
		text := func(r *bench.Result) string { return r.Subject }
		first = append(first, Column{Name: name, text: text})
	}
	columns := slices.Clone(first)
	for _, name := range different {
		columns = append(columns, parameter(name))
	}
	writeCells(&text, cells(append(columns, figures(results)...), all, results, varied != ""))
	if latencies := latencies(results); len(latencies) > 0 {
		text.WriteString("\nlatency, from when it was due\n")
		writeCells(&text, cells(append(first, latencies...), all, results, varied != ""))
	}
	if varied != "" {
		text.WriteString("\nchecked in each run; in the first:\n")
		results = results[:1]
	} else {
		text.WriteString("\nchecked\n")
	}
	for _, result := range results {
		for _, proof := range result.Proof {
			if several && varied == "" {
				proof = result.Subject + ": " + proof
			}
			writeWrapped(&text, proof)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// divide separates the parameters that all results share from those that differ, without the varied
// one.
func divide(results []*bench.Result, varied string) (same, different []string) {
	for _, name := range parameters(results) {
		p := parameter(name)
		switch {
		case flagName(name) == varied:
		case slices.ContainsFunc(results, func(r *bench.Result) bool { return p.human(r) != p.human(results[0]) }):
			different = append(different, name)
		default:
			same = append(same, name)
		}
	}
	return same, different
}

// cells returns a row for each result, below the names of the columns, or its transpose. A long
// name takes two rows.
func cells(columns []Column, all []Rounds, results []*bench.Result, rows bool) [][]string {
	var table [][]string
	if rows {
		table = make([][]string, 2, len(results)+2)
		for _, column := range columns {
			at := strings.LastIndexByte(column.Name, ' ')
			table[0] = append(table[0], column.Name[:max(at, 0)])
			table[1] = append(table[1], column.Name[at+1:])
		}
		for i, result := range results {
			var row []string
			for _, column := range columns {
				row = append(row, column.human(result)+column.spread(all[i]))
			}
			table = append(table, row)
		}
		return table
	}
	for _, column := range columns {
		row := []string{column.Name}
		for i, result := range results {
			row = append(row, column.human(result)+column.spread(all[i]))
		}
		table = append(table, row)
	}
	return table
}

// writeCells writes a table. The first column is aligned to the left, all others to the right, so
// that digits align.
func writeCells(text *strings.Builder, table [][]string) {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range table {
		line := fmt.Sprintf("  %-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("   %*s", widths[i+1], cell)
		}
		if line = strings.TrimRight(line, " "); line != "" {
			text.WriteString(line + "\n")
		}
	}
}

// writeWrapped writes a paragraph in lines of at most a hundred columns.
func writeWrapped(text *strings.Builder, paragraph string) {
	for i, line := range words.Wrap(paragraph, 96) {
		text.WriteString(strings.Repeat(" ", 2+2*min(i, 1)) + line + "\n")
	}
}

// Column is a property of results: a number, or else a text.
type Column struct {
	Name, Unit string
	Better     bench.Better
	// Latency reports whether the number is a percentile of the latency.
	Latency bool
	// Number returns the number; NaN if the result has none.
	Number func(*bench.Result) float64

	text func(*bench.Result) string // instead of Number
}

// human returns the text for a table.
func (c Column) human(r *bench.Result) string {
	if c.text != nil {
		return c.text(r)
	}
	return Human(c.Number(r), c.Unit)
}

// spread returns the spread of a number over the rounds: " (3 %)".
func (c Column) spread(rounds Rounds) string {
	if c.Number == nil || len(rounds) == 1 {
		return ""
	}
	spread := bench.Spread(rounds.Values(c.Number))
	if math.IsNaN(spread) || math.IsInf(spread, 0) {
		return ""
	}
	return fmt.Sprintf(" (%.0f %%)", 100*spread)
}

// parameter returns the column of a parameter.
func parameter(name string) Column {
	return Column{Name: name, text: func(r *bench.Result) string {
		i := slices.IndexFunc(r.Parameters, func(p bench.Parameter) bool { return p.Name == name })
		if i < 0 {
			return "–"
		}
		return r.Parameters[i].Value
	}}
}

// parameters returns the names of the parameters that any of the results has.
func parameters(results []*bench.Result) []string {
	var names []string
	for _, result := range results {
		for _, parameter := range result.Parameters {
			if !slices.Contains(names, parameter.Name) {
				names = append(names, parameter.Name)
			}
		}
	}
	return names
}

// Numbers returns the figures that any of the results has, and the percentiles if one has a
// latency.
func Numbers(results []*bench.Result) []Column {
	return append(figures(results), latencies(results)...)
}

func figures(results []*bench.Result) []Column {
	var list []Column
	for _, result := range results {
		for _, f := range result.Figures {
			if !slices.ContainsFunc(list, func(c Column) bool { return c.Name == f.Name }) {
				list = append(list, Column{Name: f.Name, Unit: f.Unit, Better: f.Better, Number: valueOf(f.Name)})
			}
		}
	}
	return list
}

// Percentiles are the reported values of a histogram, as fractions.
var Percentiles = []struct {
	Name string
	Q    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}}

// valueOf returns a function that returns the figure with a name; NaN if a result has none.
func valueOf(name string) func(*bench.Result) float64 {
	return func(r *bench.Result) float64 {
		if found, ok := r.Figure(name); ok {
			return found.Value
		}
		return math.NaN()
	}
}

func latencies(results []*bench.Result) []Column {
	if !slices.ContainsFunc(results, hasLatency) {
		return nil
	}
	var list []Column
	for _, p := range Percentiles {
		number := func(r *bench.Result) float64 {
			if !hasLatency(r) {
				return math.NaN()
			}
			return float64(r.Latency.Quantile(p.Q))
		}
		list = append(list, Column{
			Name: p.Name, Unit: bench.Nanoseconds, Better: bench.Lower, Latency: true, Number: number,
		})
	}
	return list
}

// hasLatency reports whether the result has latencies. Percentiles of nothing would be zeros.
func hasLatency(r *bench.Result) bool { return r.Latency != nil && r.Latency.Count() > 0 }
