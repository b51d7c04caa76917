// Package report writes the results of benchmarks. [Table] has a column for each result and [Sweep]
// a row, with numbers of three digits and a prefix: 4.2 M/s, 310 ns, 12.3 MiB; [Human] formats
// them, for plots too. [JSON] and [CSV] are for programs: their numbers are never scaled or rounded
// and their names are stable. A missing value is null in JSON, empty in CSV and a dash in a table,
// never a zero.
package report

import (
	"io"
	"slices"
	"strings"

	"orrery/internal/lab/bench"
)

// Table writes a column for each result, with a row for each figure and percentile. It writes
// shared parameters once, above, and the checks below.
func Table(w io.Writer, results []*bench.Result) error {
	if len(results) == 0 {
		return nothing(w)
	}
	var text strings.Builder
	same, different := divide(parameterNames(results), results)
	heading(&text, results, same)
	var table cells
	row := func(indent string, a attribute) {
		cells := []string{indent + a.name}
		for _, result := range results {
			cells = append(cells, a.human(result))
		}
		table.add(cells...)
	}
	row("", subjectAttribute(""))
	for _, name := range different {
		row("", parameterAttribute(name))
	}
	for _, figure := range figureAttributes(results) {
		row("", figure)
	}
	if percentiles := latencyAttributes(results); len(percentiles) > 0 {
		table.add()
		table.add("latency, from when it was due")
		for _, percentile := range percentiles {
			row("  ", percentile)
		}
	}
	table.write(&text)
	proofs(&text, results)
	_, err := io.WriteString(w, text.String())
	return err
}

func nothing(w io.Writer) error {
	_, err := io.WriteString(w, "No results.\n")
	return err
}

// heading writes the name of the benchmark and the parameters.
func heading(text *strings.Builder, results []*bench.Result, same []string) {
	var benches, words []string
	for _, result := range results {
		if !slices.Contains(benches, result.Bench) {
			benches = append(benches, result.Bench)
		}
	}
	text.WriteString("bench " + strings.Join(benches, ", ") + "\n")
	for _, name := range same {
		words = append(words, name+" "+parameterAttribute(name).human(results[0]))
	}
	writeWrapped(text, words, " · ", "  ", "  ")
	text.WriteString("\n")
}

// divide separates the parameters that all results share from those that differ.
func divide(names []string, results []*bench.Result) (same, different []string) {
	for _, name := range names {
		first, _ := parameterOf(results[0], name)
		if slices.ContainsFunc(results, func(r *bench.Result) bool {
			value, ok := parameterOf(r, name)
			return !ok || value != first
		}) {
			different = append(different, name)
		} else {
			same = append(same, name)
		}
	}
	return same, different
}

// proofs writes the checks: once if all results share them, otherwise with the name of the subject.
func proofs(text *strings.Builder, results []*bench.Result) {
	var lines []string
	for _, result := range results {
		for _, proof := range result.Proof {
			if slices.ContainsFunc(results, func(r *bench.Result) bool { return !slices.Contains(r.Proof, proof) }) {
				proof = result.Subject + ": " + proof
			}
			if !slices.Contains(lines, proof) {
				lines = append(lines, proof)
			}
		}
	}
	if len(lines) == 0 {
		return
	}
	text.WriteString("\nchecked\n")
	for _, line := range lines {
		writeSentence(text, line)
	}
}
