package report

import (
	"slices"
	"strconv"

	"orrery/internal/lab/bench"
)

// Rounds are the results of one design with one set of parameters, one for each round.
type Rounds []*bench.Result

// Last returns the result of the last round.
func (r Rounds) Last() *bench.Result { return r[len(r)-1] }

// Median returns a result with the median of each figure, and the latencies of all rounds merged.
func (r Rounds) Median() *bench.Result {
	if len(r) == 1 {
		return r[0]
	}
	merged := *r.Last()
	merged.Figures, merged.Latency = nil, nil
	merged.Parameters = append(slices.Clone(merged.Parameters),
		bench.Parameter{Name: "rounds", Value: strconv.Itoa(len(r)) + " (medians)"})
	for _, figure := range r.Last().Figures {
		figure.Value = bench.Median(r.Values(Column{Figure: figure}))
		merged.Figures = append(merged.Figures, figure)
	}
	for _, round := range r {
		if round.Latency != nil {
			if merged.Latency == nil {
				merged.Latency = &bench.Histogram{}
			}
			merged.Latency.Merge(round.Latency)
		}
	}
	return &merged
}

// roundParameter is the name of a parameter that numbers the rounds.
const roundParameter = "round"

// Every returns the results of all rounds, numbered if there are several.
func Every(all []Rounds) []*bench.Result {
	var results []*bench.Result
	for _, rounds := range all {
		for i, result := range rounds {
			if len(rounds) > 1 {
				numbered := *result
				number := bench.Parameter{Name: roundParameter, Value: strconv.Itoa(i + 1)}
				numbered.Parameters = append(slices.Clone(result.Parameters), number)
				result = &numbered
			}
			results = append(results, result)
		}
	}
	return results
}

// Values returns a number of each round.
func (r Rounds) Values(of Column) []float64 {
	values := make([]float64, len(r))
	for i, round := range r {
		values[i] = of.Number(round)
	}
	return values
}
