package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"

	"orrery/internal/lab/bench"
)

// JSON writes results as one object:
//
//	environment      where they were measured
//	  go             version of Go: "go1.26.0"
//	  platform       "linux/amd64"
//	  cpus           threads that ran Go code at the same time (GOMAXPROCS)
//	results          list, one a run
//	  bench          "queue"
//	  subject        "orrery", or the name of a design
//	  parameters     object: flag → value, in the order of their importance; all values are strings
//	  figures        list, the most important first
//	    name         "processed"
//	    unit         "1/s", "ns", "B", "s" or "count"
//	    value        number, neither scaled nor rounded; null if there is none
//	    better       "lower" or "higher"
//	  latency        from when an event was due until it was dealt with; null if the benchmark has none
//	    unit         "ns"
//	    count        how many were measured
//	    min, mean, p50, p90, p99, p99.9, max
//	  proof          list of sentences: what was checked
func JSON(w io.Writer, results []*bench.Result) error { return writeJSON(w, here(), results) }

func writeJSON(w io.Writer, where environment, results []*bench.Result) error {
	document := jsonDocument{Environment: where, Results: make([]jsonResult, len(results))}
	for i, result := range results {
		document.Results[i] = jsonResult{
			Bench: result.Bench, Subject: result.Subject, Parameters: parameters(result.Parameters),
			Figures: jsonFigures(result.Figures), Latency: (*latency)(result), Proof: append([]string{}, result.Proof...),
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

type jsonDocument struct {
	Environment environment  `json:"environment"`
	Results     []jsonResult `json:"results"`
}

type jsonResult struct {
	Bench      string       `json:"bench"`
	Subject    string       `json:"subject"`
	Parameters parameters   `json:"parameters"`
	Figures    []jsonFigure `json:"figures"`
	Latency    *latency     `json:"latency"`
	Proof      []string     `json:"proof"`
}

type jsonFigure struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit"`
	Value  *float64     `json:"value"`
	Better bench.Better `json:"better"`
}

func jsonFigures(figures []bench.Figure) []jsonFigure {
	list := make([]jsonFigure, len(figures))
	for i, f := range figures {
		list[i] = jsonFigure{Name: f.Name, Unit: f.Unit, Better: f.Better}
		if !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0) {
			list[i].Value = &f.Value
		}
	}
	return list
}

// parameters is an object whose keys keep their order.
type parameters []bench.Parameter

// MarshalJSON writes the object.
func (p parameters) MarshalJSON() ([]byte, error) {
	var pairs []string
	for _, parameter := range p {
		name, err := json.Marshal(flagName(parameter.Name))
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(parameter.Value)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, string(name)+":"+string(value))
	}
	return []byte("{" + strings.Join(pairs, ",") + "}"), nil
}

// flagName is the name of a parameter as it is written on the command line: "handler cost" is --handler-cost.
func flagName(name string) string { return strings.ReplaceAll(name, " ", "-") }

// latency is the histogram of a result.
type latency bench.Result

// MarshalJSON writes the object, or null.
func (l *latency) MarshalJSON() ([]byte, error) {
	h := l.Latency
	if !has(h) {
		return []byte("null"), nil
	}
	var object bytes.Buffer
	fmt.Fprintf(&object, `{"unit":"ns","count":%d,"min":%d,"mean":%d`, h.Count(), h.Min(), h.Mean())
	for _, column := range latencies {
		fmt.Fprintf(&object, ",%q:%s", column.name, plain(column.of(h)))
	}
	object.WriteByte('}')
	return object.Bytes(), nil
}

// environment is where a benchmark has run. Figures from different environments must not be compared.
type environment struct {
	Go       string `json:"go"`
	Platform string `json:"platform"`
	CPUs     int    `json:"cpus"` // that Go uses at the same time
}

func here() environment {
	return environment{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, runtime.GOMAXPROCS(0)}
}
