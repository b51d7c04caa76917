package main

import (
	"slices"
	"strconv"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/histogram"
)

// benchRecord is a run and its results, one for each round.
type benchRecord struct {
	benchRun
	rounds []*bench.Result
}

// last is the only result, or one that says what all of them have in common.
func (r benchRecord) last() *bench.Result { return r.rounds[len(r.rounds)-1] }

// median is what a table shows of several rounds: the median of each figure, and all latencies together. Parameters that
// the rounds have chosen for themselves are left out where they differ.
func (r benchRecord) median() *bench.Result {
	if len(r.rounds) == 1 {
		return r.rounds[0]
	}
	first := r.rounds[0]
	merged := &bench.Result{Bench: first.Bench, Subject: first.Subject, Proof: r.last().Proof}
	for _, parameter := range first.Parameters {
		if !slices.ContainsFunc(r.rounds, func(round *bench.Result) bool { return !slices.Contains(round.Parameters, parameter) }) {
			merged.Parameters = append(merged.Parameters, parameter)
		}
	}
	merged.Parameters = append(merged.Parameters, bench.Parameter{Name: "rounds", Value: strconv.Itoa(len(r.rounds)) + " (medians)"})
	for _, figure := range first.Figures {
		figure.Value, _, _ = r.spread(func(result *bench.Result) float64 {
			same, _ := result.Figure(figure.Name)
			return same.Value
		})
		merged.Figures = append(merged.Figures, figure)
	}
	for _, round := range r.rounds {
		if round.Latency != nil {
			if merged.Latency == nil {
				merged.Latency = &histogram.Histogram{}
			}
			merged.Latency.Merge(round.Latency)
		}
	}
	return merged
}

// spread is the median of a number over the rounds, with the least and the greatest.
func (r benchRecord) spread(of func(*bench.Result) float64) (median, low, high float64) {
	values := make([]float64, len(r.rounds))
	for i, round := range r.rounds {
		values[i] = of(round)
	}
	slices.Sort(values)
	middle := len(values) / 2
	median = values[middle]
	if len(values)%2 == 0 {
		median = (values[middle-1] + values[middle]) / 2
	}
	return median, values[0], values[len(values)-1]
}

// medians are the results for a table.
func medians(records []benchRecord) []*bench.Result {
	var results []*bench.Result
	for _, record := range records {
		results = append(results, record.median())
	}
	return results
}

// everyRound are the results for programs: all of them, with the number of the round where there were several.
func everyRound(records []benchRecord) []*bench.Result {
	var results []*bench.Result
	for _, record := range records {
		for i, round := range record.rounds {
			if len(record.rounds) > 1 {
				numbered := *round
				numbered.Parameters = append(slices.Clone(round.Parameters), bench.Parameter{Name: "round", Value: strconv.Itoa(i + 1)})
				round = &numbered
			}
			results = append(results, round)
		}
	}
	return results
}
