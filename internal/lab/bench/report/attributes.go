package report

import (
	"slices"

	"orrery/internal/lab/bench"
)

// attribute is a property of results: a row of [Table], a column of [Sweep] and [CSV].
type attribute struct {
	name, unit string
	// number returns a figure, text returns anything else. The other is nil.
	number func(*bench.Result) (float64, bool)
	text   func(*bench.Result) (string, bool)
}

// human returns the text for a table.
func (a attribute) human(r *bench.Result) string {
	if a.text != nil {
		if text, ok := a.text(r); ok {
			return text
		}
	} else if number, ok := a.number(r); ok {
		return Human(number, a.unit)
	}
	return "–"
}

func subjectAttribute(name string) attribute {
	return attribute{name: name, text: func(r *bench.Result) (string, bool) { return r.Subject, true }}
}

func parameterAttribute(name string) attribute {
	return attribute{name: name, text: func(r *bench.Result) (string, bool) { return parameterOf(r, name) }}
}

// figureAttributes returns the figures that any of the results has.
func figureAttributes(results []*bench.Result) []attribute {
	var list []attribute
	for _, result := range results {
		for _, f := range result.Figures {
			if !slices.ContainsFunc(list, func(a attribute) bool { return a.name == f.Name }) {
				list = append(list, attribute{name: f.Name, unit: f.Unit, number: func(r *bench.Result) (float64, bool) {
					found, ok := r.Figure(f.Name)
					return found.Value, ok
				}})
			}
		}
	}
	return list
}

// percentiles are the reported values of a histogram.
var percentiles = []struct {
	name string
	q    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}}

// latencyAttributes returns the percentiles, or nil if no result has a latency.
func latencyAttributes(results []*bench.Result) []attribute {
	if !slices.ContainsFunc(results, hasLatency) {
		return nil
	}
	var list []attribute
	for _, p := range percentiles {
		list = append(list, attribute{name: p.name, unit: bench.Nanoseconds, number: func(r *bench.Result) (float64, bool) {
			if !hasLatency(r) {
				return 0, false
			}
			return float64(r.Latency.Quantile(p.q)), true
		}})
	}
	return list
}

// hasLatency reports whether the result has latencies. Percentiles of nothing would be zeros.
func hasLatency(r *bench.Result) bool { return r.Latency != nil && r.Latency.Count() > 0 }

// parameterNames returns the parameters that any of the results has.
func parameterNames(results []*bench.Result) []string {
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

// parameterOf returns a parameter of a result, written with spaces or hyphens.
func parameterOf(result *bench.Result, name string) (value string, ok bool) {
	for _, parameter := range result.Parameters {
		if flagName(parameter.Name) == flagName(name) {
			return parameter.Value, true
		}
	}
	return "", false
}
