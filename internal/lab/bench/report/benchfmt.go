package report

import (
	"fmt"
	"io"
	"strings"

	"orrery/internal/lab/bench"
)

// units are the units of benchstat, which scales those that it knows. The others count something.
var units = map[string]string{
	bench.PerSecond: "/s", bench.Nanoseconds: "-ns", bench.Seconds: "-sec", bench.Bytes: "-B",
}

// Benchfmt writes results as Go's benchmarks do, for benchstat: the machine as configuration, and a
// line for each result. The subject and the parameters are parts of its name, so that "benchstat
// -col /design" compares designs.
func Benchfmt(w io.Writer, where Machine, results []*bench.Result) error {
	var text strings.Builder
	system, architecture, _ := strings.Cut(where.Platform, "/")
	fmt.Fprintf(&text, "goos: %s\ngoarch: %s\ncpu: %s\n", system, architecture, where.Processor)
	fmt.Fprintf(&text, "kernel: %s\ngo: %s\ncommit: %s\nload: %.1f\n", where.Kernel, where.Go, where.Commit, where.Load)
	better := map[string]bool{}
	for _, result := range results {
		name := fmt.Sprintf("Benchmark%s%s/design=%s", strings.ToUpper(result.Bench[:1]), result.Bench[1:],
			result.Subject)
		for _, p := range result.Parameters {
			if p.Name != roundParameter {
				name += "/" + flagName(p.Name) + "=" + p.Value
			}
		}
		line := fmt.Sprintf("%s-%d 1", name, where.GOMAXPROCS)
		for _, column := range Numbers([]*bench.Result{result}) {
			unit := flagName(column.Name) + units[column.Unit]
			line += " " + plain(column.Number(result)) + " " + unit
			if !better[unit] {
				better[unit] = true
				fmt.Fprintf(&text, "Unit %s better=%s\n", unit, column.Better)
			}
		}
		text.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}
