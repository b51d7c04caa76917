package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
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
//	    p50, p90, p99, p99.9, max
//	  proof          list of sentences: what was checked
func JSON(w io.Writer, where Machine, all []Rounds) error {
	document := struct {
		Machine Machine      `json:"machine"`
		Results []jsonResult `json:"results"`
	}{Machine: where}
	for _, r := range every(all) {
		result := jsonResult{Result: r, Parameters: map[string]string{}}
		for _, parameter := range r.Parameters {
			result.Parameters[flagName(parameter.Name)] = parameter.Value
		}
		if r.hasLatency() {
			result.Latency = map[string]any{"unit": "ns", "count": r.Latency.Count()}
			for _, p := range percentiles {
				result.Latency[p.name] = r.Latency.Quantile(p.q)
			}
		}
		document.Results = append(document.Results, result)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// jsonResult is a result with parameters and latency as objects.
type jsonResult struct {
	*Result
	Parameters map[string]string `json:"parameters"`
	Latency    map[string]any    `json:"latency"`
}

// flagName returns the flag of a parameter: "handler cost" is --handler-cost.
func flagName(name string) string { return strings.ReplaceAll(name, " ", "-") }

// units are the units of benchstat, which scales those that it knows. The others count something.
var units = map[string]string{PerSecond: "/s", Nanoseconds: "-ns", Seconds: "-sec", Bytes: "-B"}

// Benchfmt writes results as Go's benchmarks do, for benchstat: the machine as configuration, and a
// line for each result. The subject and the parameters are parts of its name, so that "benchstat
// -col /design" compares designs.
func Benchfmt(w io.Writer, where Machine, all []Rounds) error {
	var text strings.Builder
	system, architecture, _ := strings.Cut(where.Platform, "/")
	fmt.Fprintf(&text, "goos: %s\ngoarch: %s\ncpu: %s\n", system, architecture, where.Processor)
	fmt.Fprintf(&text, "kernel: %s\ngo: %s\ncommit: %s\nload: %.1f\n", where.Kernel, where.Go, where.Commit, where.Load)
	better := map[string]bool{}
	for _, result := range every(all) {
		line := fmt.Sprintf("Benchmark%s%s/design=%s", strings.ToUpper(result.Bench[:1]), result.Bench[1:],
			result.Subject)
		for _, p := range result.Parameters {
			if p.Name != roundParameter {
				line += "/" + flagName(p.Name) + "=" + p.Value
			}
		}
		line += fmt.Sprintf("-%d 1", where.GOMAXPROCS)
		for _, number := range result.numbers() {
			unit := flagName(number.Name) + units[number.Unit]
			line += " " + plain(number.Value) + " " + unit
			if !better[unit] {
				better[unit] = true
				fmt.Fprintf(&text, "Unit %s better=%s\n", unit, number.Better)
			}
		}
		text.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}
