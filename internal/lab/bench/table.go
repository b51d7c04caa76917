package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"orrery/internal/words"
)

// Rounds are the results of one design with one set of parameters, one for each round.
type Rounds []*Result

// median returns a result with the median of each figure, and the latencies of all rounds merged.
func (r Rounds) median() *Result {
	if len(r) == 1 {
		return r[0]
	}
	merged := *r[len(r)-1]
	merged.Figures, merged.Latency = slices.Clone(merged.Figures), &Histogram{}
	rounds := Parameter{Name: "rounds", Value: strconv.Itoa(len(r)) + " (medians)"}
	merged.Parameters = append(slices.Clone(merged.Parameters), rounds)
	for i, figure := range merged.Figures {
		merged.Figures[i].Value = Median(r.values(figure.Name))
	}
	for _, round := range r {
		if round.Latency != nil {
			merged.Latency.Merge(round.Latency)
		}
	}
	return &merged
}

// values returns a number of each round.
func (r Rounds) values(name string) []float64 {
	values := make([]float64, len(r))
	for i, round := range r {
		values[i] = round.number(name)
	}
	return values
}

// spread returns the spread of a number: " (3 %)".
func (r Rounds) spread(name string) string {
	spread := Spread(r.values(name))
	if len(r) == 1 || math.IsNaN(spread) || math.IsInf(spread, 0) {
		return ""
	}
	return fmt.Sprintf(" (%.0f %%)", 100*spread)
}

// roundParameter is the name of a parameter that numbers the rounds.
const roundParameter = "round"

// every returns the results of all rounds, numbered if there are several.
func every(all []Rounds) (results []*Result) {
	for _, rounds := range all {
		for i, result := range rounds {
			if len(rounds) > 1 {
				numbered := *result
				number := Parameter{Name: roundParameter, Value: strconv.Itoa(i + 1)}
				numbered.Parameters = append(slices.Clone(result.Parameters), number)
				result = &numbered
			}
			results = append(results, result)
		}
	}
	return results
}

// percentiles are the reported values of a histogram, as fractions.
var percentiles = []struct {
	name string
	q    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}}

// numbers returns the figures of a result, and the percentiles if it has latencies: percentiles of
// nothing would be zeros.
func (r *Result) numbers() []Figure {
	numbers := slices.Clone(r.Figures)
	if !r.hasLatency() {
		return numbers
	}
	for _, p := range percentiles {
		value := float64(r.Latency.Quantile(p.q))
		numbers = append(numbers, Figure{Name: p.name, Unit: Nanoseconds, Better: Lower, Value: value, latency: true})
	}
	return numbers
}

func (r *Result) hasLatency() bool { return r.Latency != nil && r.Latency.Count() > 0 }

// number returns a number of a result; NaN if it has none.
func (r *Result) number(name string) float64 {
	for _, number := range r.numbers() {
		if number.Name == name {
			return number.Value
		}
	}
	return math.NaN()
}

// parameter returns the value of a parameter, or a dash.
func (r *Result) parameter(name string) string {
	for _, p := range r.Parameters {
		if p.Name == name {
			return p.Value
		}
	}
	return "–"
}

// table is the results that are written, one for each row.
type table struct {
	strings.Builder
	varied string // the varied flag
	all    []Rounds
	rows   []*Result // the medians of all
}

// Table writes the machine, the parameters that all results share, and a row for each result, with
// the spread of its rounds. It begins with what differs: the varied parameter, the design, and
// other parameters. The checks follow: those of the first result if a parameter was varied, because
// the others differ in numbers only.
func Table(w io.Writer, where Machine, varied string, all []Rounds) error {
	t := &table{varied: varied, all: all}
	for _, rounds := range all {
		t.rows = append(t.rows, rounds.median())
	}
	t.WriteString("bench " + t.rows[0].Bench + "\n")
	t.paragraph(where.String())
	t.paragraph(where.Busy())
	first, shared := t.parameters()
	t.paragraph(strings.Join(shared, ", "))
	if len(all[0]) > 1 {
		t.paragraph("in parentheses: the spread of the rounds, (max-min)/median")
	}
	t.write("", first, false)
	t.write("latency, from when it was due\n", first, true)
	checked := t.rows
	if varied != "" {
		t.WriteString("\nchecked in each run; in the first:\n")
		checked = checked[:1]
	} else {
		t.WriteString("\nchecked\n")
	}
	for _, result := range checked {
		for _, proof := range result.Proof {
			if len(checked) > 1 {
				proof = result.Subject + ": " + proof
			}
			t.paragraph(proof)
		}
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// parameters returns the names of the parameters that differ, the varied one first, and the others
// with their values.
func (t *table) parameters() (differ, shared []string) {
	seen := map[string]bool{}
	for _, result := range t.rows {
		for _, p := range result.Parameters {
			value := t.rows[0].parameter(p.Name)
			differs := func(r *Result) bool { return r.parameter(p.Name) != value }
			switch {
			case seen[p.Name]:
			case flagName(p.Name) == t.varied:
				differ = append([]string{p.Name}, differ...)
			case slices.ContainsFunc(t.rows, differs):
				differ = append(differ, p.Name)
			default:
				shared = append(shared, p.Name+" "+value)
			}
			seen[p.Name] = true
		}
	}
	return differ, shared
}

// write writes the figures, or the latencies, if there are any. The name of a column takes two
// lines. The first column is aligned to the left, all others to the right, so that digits align.
func (t *table) write(title string, first []string, latency bool) {
	columns := slices.DeleteFunc(numbersOf(t.rows), func(f Figure) bool { return f.latency != latency })
	if len(columns) == 0 {
		return
	}
	t.WriteString("\n" + title)
	names := append(slices.Clone(first), "design")
	for _, column := range columns {
		names = append(names, column.Name)
	}
	cells := make([][]string, 2, 2+len(t.rows))
	for _, name := range names {
		at := strings.LastIndexByte(name, ' ')
		cells[0], cells[1] = append(cells[0], name[:max(at, 0)]), append(cells[1], name[at+1:])
	}
	for i, result := range t.rows {
		var row []string
		for _, name := range first {
			row = append(row, result.parameter(name))
		}
		row = append(row, result.Subject)
		for _, column := range columns {
			row = append(row, Human(result.number(column.Name), column.Unit)+t.all[i].spread(column.Name))
		}
		cells = append(cells, row)
	}
	widths := make([]int, len(names))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range cells {
		line := fmt.Sprintf("  %-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("   %*s", widths[i+1], cell)
		}
		if line = strings.TrimRight(line, " "); line != "" {
			t.WriteString(line + "\n")
		}
	}
}

// paragraph writes a text, unless it is empty, in lines of at most a hundred columns.
func (t *table) paragraph(text string) {
	for i, line := range words.Wrap(text, 96) {
		if line != "" {
			t.WriteString(strings.Repeat(" ", 2+2*min(i, 1)) + line + "\n")
		}
	}
}

// numbersOf returns the numbers that any of the results has. Their values mean nothing.
func numbersOf(results []*Result) (list []Figure) {
	for _, result := range results {
		for _, number := range result.numbers() {
			if !slices.ContainsFunc(list, func(f Figure) bool { return f.Name == number.Name }) {
				list = append(list, number)
			}
		}
	}
	return list
}
