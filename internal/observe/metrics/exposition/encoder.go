package exposition

import (
	"bufio"
	"math"
	"strconv"
	"strings"
)

// encoder writes the text format. The buffer keeps the writer's errors for its Flush.
type encoder struct{ out *bufio.Writer }

var (
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// head writes the HELP and TYPE lines of a family.
func (e *encoder) head(d Desc) {
	e.strings("# HELP ", d.Name, " ", escapeHelp.Replace(d.Help), "\n# TYPE ", d.Name, " ", string(d.Kind), "\n")
}

// sample writes one value.
func (e *encoder) sample(d Desc, labels []string, value float64) {
	e.line(d.Name, "", d.Labels, labels, "", value)
}

// histogram writes buckets, sum and count.
func (e *encoder) histogram(d Desc, labels []string, h *Histogram) {
	sum := h.Sum()
	counts := h.cumulative()
	for i, bound := range d.Buckets {
		e.line(d.Name, "_bucket", d.Labels, labels, formatted(bound), float64(counts[i]))
	}
	total := float64(counts[len(counts)-1])
	e.line(d.Name, "_bucket", d.Labels, labels, "+Inf", total)
	e.line(d.Name, "_sum", d.Labels, labels, "", sum)
	e.line(d.Name, "_count", d.Labels, labels, "", total)
}

// line writes one line; le is the bucket label, or empty.
func (e *encoder) line(name, suffix string, names, values []string, le string, value float64) {
	e.strings(name, suffix)
	separator := "{"
	for i, label := range names {
		e.strings(separator, label, `="`, escapeLabel.Replace(strings.ToValidUTF8(values[i], "\uFFFD")), `"`)
		separator = ","
	}
	if le != "" {
		e.strings(separator, `le="`, le, `"`)
		separator = ","
	}
	if separator == "," {
		e.strings("}")
	}
	e.strings(" ", formatted(value), "\n")
}

func (e *encoder) strings(parts ...string) {
	for _, part := range parts {
		_, _ = e.out.WriteString(part)
	}
}

func formatted(value float64) string {
	switch {
	case math.IsInf(value, 1):
		return "+Inf"
	case math.IsInf(value, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}
