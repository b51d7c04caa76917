package report

import "orrery/internal/lab/bench"

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
