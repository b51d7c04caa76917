package report

import (
	"io"
	"slices"
	"strings"

	"orrery/internal/lab/bench"
)

// Table writes results side by side: a column for each, a row for each figure and each percentile. What was the same for
// all of them is said once, above; what was checked is said below.
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

// heading says what ran, and with which parameters.
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

// divide tells the parameters that all results share from those in which they differ.
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

// proofs says what was checked: once what is true of all results, otherwise with the name of the subject.
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
