// Package report writes the results of benchmarks. [Table] is for readers, with numbers of three
// digits and a prefix: 4.2 M/s, 310 ns, 12.3 MiB; [Human] formats them, for plots too. [JSON]
// and [Benchfmt] are for programs: their numbers are never scaled or rounded and their names are
// stable. A missing value is null in JSON and a dash in a table, never a zero. A [Picture] shows a
// number over a parameter, drawn with gonum/plot.
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

// Table writes the machine, the parameters that all results share, and a row for each result, with
// the spread of its rounds. It begins with what differs: the varied parameter, the design, and
// other parameters. The checks follow: those of the first result if a parameter was varied, because
// the others differ in numbers only.
func Table(w io.Writer, where Machine, varied string, all []Rounds) error {
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
	if shared := Shared(results, varied); shared != "" {
		writeWrapped(&text, shared)
	}
	if len(all[0]) > 1 {
		writeWrapped(&text, "in parentheses: the spread of the rounds, (max-min)/median")
	}
	figures := Numbers(results)
	latencies := slices.DeleteFunc(slices.Clone(figures), func(c Column) bool { return !c.Latency })
	figures = slices.DeleteFunc(figures, func(c Column) bool { return c.Latency })
	writeRows(&text, "", varied, figures, all, results)
	if len(latencies) > 0 {
		writeRows(&text, "latency, from when it was due", varied, latencies, all, results)
	}
	if varied != "" {
		text.WriteString("\nchecked in each run; in the first:\n")
		results = results[:1]
	} else {
		text.WriteString("\nchecked\n")
	}
	for _, result := range results {
		for _, proof := range result.Proof {
			if len(results) > 1 {
				proof = result.Subject + ": " + proof
			}
			writeWrapped(&text, proof)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// Shared returns the parameters that all results share, without the varied one.
func Shared(results []*bench.Result, varied string) string {
	var shared []string
	for _, name := range parameters(results) {
		if flagName(name) != varied && !differs(results, name) {
			shared = append(shared, name+" "+parameter(results[0], name))
		}
	}
	return strings.Join(shared, ", ")
}

func differs(results []*bench.Result, name string) bool {
	return slices.ContainsFunc(results, func(r *bench.Result) bool {
		return parameter(r, name) != parameter(results[0], name)
	})
}

// parameter returns the value of a parameter, or a dash.
func parameter(r *bench.Result, name string) string {
	for _, p := range r.Parameters {
		if p.Name == name {
			return p.Value
		}
	}
	return "–"
}

// parameters returns the names of the parameters that any of the results has.
func parameters(results []*bench.Result) []string {
	var names []string
	for _, result := range results {
		for _, p := range result.Parameters {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// writeRows writes a table with a row for each result. The name of a column takes two lines.
func writeRows(
	text *strings.Builder, title, varied string, columns []Column, all []Rounds, results []*bench.Result,
) {
	text.WriteString("\n")
	if title != "" {
		text.WriteString(title + "\n")
	}
	var first []string
	for _, name := range parameters(results) {
		if flagName(name) == varied {
			first = append([]string{name}, first...)
		} else if differs(results, name) {
			first = append(first, name)
		}
	}
	table := make([][]string, 2)
	head := func(name string) {
		at := strings.LastIndexByte(name, ' ')
		table[0], table[1] = append(table[0], name[:max(at, 0)]), append(table[1], name[at+1:])
	}
	for _, name := range first {
		head(name)
	}
	head("design")
	for _, column := range columns {
		head(column.Name)
	}
	for i, result := range results {
		var row []string
		for _, name := range first {
			row = append(row, parameter(result, name))
		}
		row = append(row, result.Subject)
		for _, column := range columns {
			row = append(row, Human(column.Number(result), column.Unit)+column.spread(all[i]))
		}
		table = append(table, row)
	}
	writeCells(text, table)
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

// Column is a number that results have. Its own value means nothing.
type Column struct {
	bench.Figure
	// Latency reports whether the number is a percentile of the latency.
	Latency bool
}

// Number returns the number of a result; NaN if it has none.
func (c Column) Number(r *bench.Result) float64 {
	for _, number := range numbers(r) {
		if number.Name == c.Name {
			return number.Value
		}
	}
	return math.NaN()
}

// spread returns the spread of a number over the rounds: " (3 %)".
func (c Column) spread(rounds Rounds) string {
	if len(rounds) == 1 {
		return ""
	}
	spread := bench.Spread(rounds.Values(c))
	if math.IsNaN(spread) || math.IsInf(spread, 0) {
		return ""
	}
	return fmt.Sprintf(" (%.0f %%)", 100*spread)
}

// Numbers returns the figures that any of the results has, and the percentiles if one has a
// latency.
func Numbers(results []*bench.Result) []Column {
	var list []Column
	for _, result := range results {
		for _, number := range numbers(result) {
			if !slices.ContainsFunc(list, func(c Column) bool { return c.Name == number.Name }) {
				list = append(list, number)
			}
		}
	}
	return list
}

// percentiles are the reported values of a histogram, as fractions.
var percentiles = []struct {
	name string
	q    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}}

// numbers returns the figures of a result, and the percentiles if it has latencies.
func numbers(r *bench.Result) (list []Column) {
	for _, figure := range r.Figures {
		list = append(list, Column{Figure: figure})
	}
	if !hasLatency(r) {
		return list
	}
	for _, p := range percentiles {
		figure := bench.Figure{Name: p.name, Unit: bench.Nanoseconds, Better: bench.Lower,
			Value: float64(r.Latency.Quantile(p.q))}
		list = append(list, Column{Figure: figure, Latency: true})
	}
	return list
}

// hasLatency reports whether the result has latencies. Percentiles of nothing would be zeros.
func hasLatency(r *bench.Result) bool { return r.Latency != nil && r.Latency.Count() > 0 }
