package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"orrery/internal/lab/bench"
)

// CSV writes a header and one row per result, for a spreadsheet. The columns:
//
//	bench, subject
//	one for each parameter, named as its flag: producers, handler-cost
//	one for each figure, with its unit: processed (1/s), peak memory (B)
//	latency p50 (ns), latency p90 (ns), latency p99 (ns), latency p99.9 (ns), latency max (ns)
//	proof, go, platform, cpus
//
// Parameters and figures are those that any of the results has, in order of appearance.
func CSV(w io.Writer, results []*bench.Result) error { return writeCSV(w, here(), results) }

func writeCSV(w io.Writer, where environment, results []*bench.Result) error {
	parameters, figures, latencies := parameterNames(results), figureAttributes(results), latencyAttributes(results)
	header := []string{"bench", "subject"}
	for _, name := range parameters {
		header = append(header, flagName(name))
	}
	for _, f := range figures {
		header = append(header, f.name+" ("+f.unit+")")
	}
	for _, l := range latencies {
		header = append(header, "latency "+l.name+" (ns)")
	}
	rows := [][]string{append(header, "proof", "go", "platform", "cpus")}
	for _, result := range results {
		row := []string{result.Bench, result.Subject}
		for _, name := range parameters {
			value, _ := parameterOf(result, name)
			row = append(row, value)
		}
		for _, a := range append(figures[:len(figures):len(figures)], latencies...) {
			cell := ""
			if number, ok := a.number(result); ok {
				cell = plain(number)
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, strings.Join(result.Proof, "; "), where.Go, where.Platform, strconv.Itoa(where.CPUs)))
	}
	return csv.NewWriter(w).WriteAll(rows)
}
