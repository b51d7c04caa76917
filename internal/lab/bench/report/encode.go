package report

import (
	"encoding/json"
	"io"
	"strings"

	"orrery/internal/lab/bench"
)

// JSON writes results as one object:
//
//	machine          where they were measured: the fields of Machine
//	results          list, one a run
//	  bench          "queue"
//	  subject        the name of a design: "fast"
//	  parameters     object: flag → value; all values are strings
//	  figures        list, the most important first
//	    name         "processed"
//	    unit         "1/s", "ns", "B", "s" or "count"
//	    value        number, neither scaled nor rounded
//	    better       "lower" or "higher"
//	  latency        from when an event was due until it was handled; null if not measured
//	    unit         "ns"
//	    count        how many were measured
//	    min, mean, p50, p90, p99, p99.9, max
//	  proof          list of sentences: what was checked
func JSON(w io.Writer, where Machine, results []*bench.Result) error {
	document := struct {
		Machine Machine      `json:"machine"`
		Results []jsonResult `json:"results"`
	}{where, make([]jsonResult, len(results))}
	for i, r := range results {
		document.Results[i] = jsonResult{Result: r, Parameters: map[string]string{}}
		for _, parameter := range r.Parameters {
			document.Results[i].Parameters[flagName(parameter.Name)] = parameter.Value
		}
		if hasLatency(r) {
			latency := map[string]any{"unit": "ns", "count": r.Latency.Count(), "min": r.Latency.Min(),
				"mean": r.Latency.Mean()}
			for _, p := range percentiles {
				latency[p.name] = r.Latency.Quantile(p.q)
			}
			document.Results[i].Latency = latency
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// jsonResult is a result with parameters and latency as objects.
type jsonResult struct {
	*bench.Result
	Parameters map[string]string `json:"parameters"`
	Latency    map[string]any    `json:"latency"`
}

// flagName returns the flag of a parameter: "handler cost" is --handler-cost.
func flagName(name string) string { return strings.ReplaceAll(name, " ", "-") }
