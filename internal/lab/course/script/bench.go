package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/report"
	"orrery/internal/lab/course/manifest"
)

// yours is the design that the program beside measures: the textbook's, which is the learner's
// there.
const yours = "yours"

// benchLimit is how long one benchmark may take. It takes some seconds.
const benchLimit = time.Minute

// percentiles are the columns of latencies.
var percentiles = []string{"p50", "p90", "p99", "max"}

// measurement is what a benchmark of one design prints.
type measurement struct {
	Results []struct {
		Figures []bench.Figure
		Latency map[string]any // by percentile, in ns; the unit is a text
	}
}

// bench measures all designs in turns, so that a disturbance of the machine affects them alike, and
// prints the medians.
func (p *player) bench(ctx context.Context, b manifest.Bench) error {
	designs := b.Designs
	if p.Beside == "" {
		designs = slices.DeleteFunc(slices.Clone(designs), func(design string) bool { return design == yours })
	}
	rounds := map[string][]map[string]float64{}
	for range max(b.Rounds, 1) {
		for _, design := range designs {
			values, err := p.measure(ctx, b, design)
			if err != nil {
				return err
			}
			rounds[design] = append(rounds[design], values)
		}
	}
	median := func(design, name string) float64 {
		var values []float64
		for _, round := range rounds[design] {
			values = append(values, round[name])
		}
		return bench.Median(values)
	}
	table := tabwriter.NewWriter(p.Out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\tprocessed\t%s\t\n", strings.Join(percentiles, "\t"))
	for _, design := range designs {
		fmt.Fprintf(table, "%s\t%s\t", design, report.Human(median(design, "processed"), bench.PerSecond))
		for _, name := range percentiles {
			fmt.Fprintf(table, "%s\t", report.Human(median(design, name), bench.Nanoseconds))
		}
		fmt.Fprintln(table)
	}
	table.Flush()
	for _, design := range designs {
		for _, name := range percentiles {
			want, limited := b.AtLeast[name]
			if got := time.Duration(median(design, name)); limited && got < want.Duration {
				p.say("run-bench-low", design, name, got.Round(time.Microsecond), want.Duration)
				return errOutcome
			}
		}
	}
	return nil
}

// measure runs the program once. It returns the figures and latencies by name.
func (p *player) measure(ctx context.Context, b manifest.Bench, design string) (map[string]float64, error) {
	limited, cancel := context.WithTimeout(ctx, p.limit(benchLimit))
	defer cancel()
	binary := p.Program
	if design == yours {
		binary, design = p.Beside, "textbook"
	}
	arguments := slices.Concat(p.Run.Args, b.Args, []string{"--design", design, "--rounds", "1", "-o", "json", "-q"})
	command := exec.CommandContext(limited, binary, arguments...)
	command.WaitDelay = time.Second
	var out, failed bytes.Buffer
	command.Stdout, command.Stderr = &out, &failed
	err := command.Run()
	if log := os.WriteFile(p.Log, append(out.Bytes(), failed.Bytes()...), 0o644); log != nil {
		return nil, log
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		p.say("run-bench-hangs", p.limit(benchLimit).Seconds())
		return nil, errOutcome
	case err != nil && strings.Contains(failed.String(), "\ngoroutine "):
		return nil, errEnded
	case err != nil:
		said := strings.Split(strings.TrimSpace(failed.String()), "\n")
		p.line(said[len(said)-1])
		return nil, errOutcome
	}
	var m measurement
	if err := json.Unmarshal(out.Bytes(), &m); err != nil || len(m.Results) != 1 {
		return nil, errors.Join(err, errors.New("the benchmark did not print one result"))
	}
	values := map[string]float64{}
	for _, figure := range m.Results[0].Figures {
		values[figure.Name] = figure.Value
	}
	for name, value := range m.Results[0].Latency {
		values[name], _ = value.(float64)
	}
	return values, nil
}
