package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"orrery/internal/lab/bench"
)

// tableWidth is how wide a table should be at most, and where lists of words are broken.
const tableWidth = 100

// The space before a line and between columns.
const (
	cellIndent = 2
	cellGap    = 3
)

// cells are the rows of a table. The first column is aligned to the left, all others to the right, so that the digits of
// numbers stand below each other. A row with a single cell is a heading, which may be wider than its column.
type cells [][]string

func (c *cells) add(row ...string) { *c = append(*c, row) }

func (c cells) widths() []int {
	var widths []int
	for _, row := range c {
		for i, cell := range row {
			if len(row) == 1 {
				continue
			}
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// width is that of the longest row.
func (c cells) width() int {
	width := cellIndent - cellGap
	for _, column := range c.widths() {
		width += column + cellGap
	}
	return width
}

func (c cells) write(text *strings.Builder) {
	widths := c.widths()
	for _, row := range c {
		var line strings.Builder
		for i, cell := range row {
			switch {
			case len(row) == 1:
				line.WriteString(strings.Repeat(" ", cellIndent) + cell)
			case i == 0:
				line.WriteString(strings.Repeat(" ", cellIndent) + cell + padding(cell, widths[0]))
			default:
				line.WriteString(strings.Repeat(" ", cellGap) + padding(cell, widths[i]) + cell)
			}
		}
		text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func padding(cell string, width int) string {
	return strings.Repeat(" ", width-utf8.RuneCountInString(cell))
}

// writeSentence writes a sentence; the lines that it is continued in are indented further.
func writeSentence(text *strings.Builder, sentence string) {
	writeWrapped(text, strings.Fields(sentence), " ", "  ", "    ")
}

// writeWrapped writes words with separators, in as many lines as it takes.
func writeWrapped(text *strings.Builder, words []string, separator, indent, further string) {
	line := ""
	for _, word := range words {
		switch {
		case line == "":
			line = indent + word
		case utf8.RuneCountInString(line+separator+word) > tableWidth:
			text.WriteString(line + "\n")
			line = further + word
		default:
			line += separator + word
		}
	}
	if line != "" {
		text.WriteString(line + "\n")
	}
}

// attribute is something that tables say of each result: a row of [Table], a column of [Sweep].
type attribute struct {
	name string
	of   func(*bench.Result) string
}

func subjectAttribute(name string) attribute {
	return attribute{name, func(r *bench.Result) string { return r.Subject }}
}

func parameterAttribute(name string) attribute {
	return attribute{name, func(r *bench.Result) string {
		if value, ok := parameterOf(r, name); ok {
			return value
		}
		return "–"
	}}
}

func figureAttributes(results []*bench.Result) []attribute {
	var list []attribute
	for _, f := range figureNames(results) {
		list = append(list, attribute{f.name, func(r *bench.Result) string {
			if figure, ok := f.of(r); ok {
				return Human(figure.Value, figure.Unit)
			}
			return "–"
		}})
	}
	return list
}

// latencyAttributes are none if no result has a latency.
func latencyAttributes(results []*bench.Result) []attribute {
	var list []attribute
	for _, result := range results {
		if !has(result.Latency) {
			continue
		}
		for _, column := range latencies {
			list = append(list, attribute{column.name, func(r *bench.Result) string {
				if has(r.Latency) {
					return Human(column.of(r.Latency), bench.Nanoseconds)
				}
				return "–"
			}})
		}
		break
	}
	return list
}

// prefix is a multiple of a unit.
type prefix struct {
	factor float64
	unit   string
}

// prefixes of each unit, the smallest first. A number takes the largest that it has one of.
var prefixes = map[string][]prefix{
	bench.PerSecond:   {{1, "/s"}, {1e3, " k/s"}, {1e6, " M/s"}, {1e9, " G/s"}},
	bench.Nanoseconds: {{1, " ns"}, {1e3, " µs"}, {1e6, " ms"}, {1e9, " s"}},
	bench.Seconds:     {{1e-9, " ns"}, {1e-6, " µs"}, {1e-3, " ms"}, {1, " s"}},
	bench.Bytes:       {{1, " B"}, {1 << 10, " KiB"}, {1 << 20, " MiB"}, {1 << 30, " GiB"}},
	bench.Count:       {{1, ""}, {1e3, " k"}, {1e6, " M"}, {1e9, " G"}},
}

// Human writes a number with three digits and the prefix that makes it short: Human(4_200_000, bench.PerSecond) is
// "4.2 M/s". Units that it does not know are written behind the number. What is not a number is a dash.
func Human(value float64, unit string) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "–"
	}
	known, ok := prefixes[unit]
	if !ok {
		return strings.TrimSpace(plain(threeDigits(value)) + " " + unit)
	}
	chosen := 0
	for chosen+1 < len(known) && math.Abs(threeDigits(value/known[chosen+1].factor)) >= 1 {
		chosen++
	}
	if value == 0 {
		return "0" + known[slices.IndexFunc(known, func(p prefix) bool { return p.factor == 1 })].unit
	}
	return plain(threeDigits(value/known[chosen].factor)) + known[chosen].unit
}

// threeDigits rounds to three significant digits, so 999.7 ns become 1 µs and not 1000 ns.
func threeDigits(value float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 3, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}

// plain writes a number without exponent and without zeros that say nothing.
func plain(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// latencies are what reports say of a histogram, with the names that JSON and CSV have for them.
var latencies = []struct {
	name string
	of   func(h *bench.Histogram) float64 // ns
}{
	{"p50", quantile(0.5)},
	{"p90", quantile(0.9)},
	{"p99", quantile(0.99)},
	{"p99.9", quantile(0.999)},
	{"max", func(h *bench.Histogram) float64 { return float64(h.Max()) }},
}

func quantile(q float64) func(*bench.Histogram) float64 {
	return func(h *bench.Histogram) float64 { return float64(h.Quantile(q)) }
}

// has tells whether there is something to say. Percentiles of nothing would be zeros.
func has(h *bench.Histogram) bool { return h != nil && h.Count() > 0 }
