package report

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/lab/bench"
)

// CSV writes a header and one row a result, so that a sweep can be loaded into a spreadsheet as it is. The columns:
//
//	bench, subject
//	one for each parameter, under the name of its flag: producers, handler-cost
//	one for each figure, with its unit: processed (1/s), peak memory (B)
//	latency p50 (ns), latency p90 (ns), latency p99 (ns), latency p99.9 (ns), latency max (ns)
//	proof, go, platform, cpus
//
// Parameters and figures are those that any of the results has, in the order in which they come up.
func CSV(w io.Writer, results []*bench.Result) error { return writeCSV(w, here(), results) }

func writeCSV(w io.Writer, where environment, results []*bench.Result) error {
	parameters, figures := parameterNames(results), figureNames(results)
	header := []string{"bench", "subject"}
	for _, name := range parameters {
		header = append(header, flagName(name))
	}
	for _, f := range figures {
		header = append(header, f.name+" ("+f.unit+")")
	}
	for _, column := range latencies {
		header = append(header, "latency "+column.name+" (ns)")
	}
	header = append(header, "proof", "go", "platform", "cpus")

	rows := [][]string{header}
	for _, result := range results {
		row := []string{result.Bench, result.Subject}
		for _, name := range parameters {
			value, _ := parameterOf(result, name)
			row = append(row, value)
		}
		for _, f := range figures {
			row = append(row, rawFigure(result, f))
		}
		for _, column := range latencies {
			text := ""
			if has(result.Latency) {
				text = plain(column.of(result.Latency))
			}
			row = append(row, text)
		}
		rows = append(rows, append(row, strings.Join(result.Proof, "; "), where.Go, where.Platform, strconv.Itoa(where.CPUs)))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func rawFigure(result *bench.Result, f figureName) string {
	figure, ok := f.of(result)
	if !ok || math.IsNaN(figure.Value) || math.IsInf(figure.Value, 0) {
		return ""
	}
	return plain(figure.Value)
}

// figureName is what a row or a column of figures is for.
type figureName struct{ name, unit string }

func (f figureName) of(result *bench.Result) (bench.Figure, bool) {
	for _, figure := range result.Figures {
		if figure.Name == f.name && figure.Unit == f.unit {
			return figure, true
		}
	}
	return bench.Figure{}, false
}

// figureNames are the figures that any of the results has.
func figureNames(results []*bench.Result) []figureName {
	var names []figureName
	for _, result := range results {
		for _, figure := range result.Figures {
			if name := (figureName{figure.Name, figure.Unit}); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// parameterNames are the parameters that any of the results has.
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

// parameterOf returns the value that a result has for a parameter.
func parameterOf(result *bench.Result, name string) (value string, ok bool) {
	for _, parameter := range result.Parameters {
		if parameter.Name == name {
			return parameter.Value, true
		}
	}
	return "", false
}
