package course

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
	"time"

	"orrery/internal/lab/bench"
)

// benchLimit is how long the benchmarks of one action may take. They take some seconds.
const benchLimit = 2 * time.Minute

// percentiles are the latencies that are shown.
var percentiles = []string{"p50", "p90", "p99", "max"}

// measurement is what a program prints about one design in one round.
type measurement struct {
	Subject string
	Figures []bench.Figure
	Latency map[string]any // by percentile, in ns; the unit is a text
}

// bench measures the designs with the program and prints the medians of its rounds.
func (p *player) bench(ctx context.Context, b Bench) error {
	measured, err := p.measure(ctx, b)
	if err != nil {
		return err
	}
	median := func(design, name string) float64 {
		var values []float64
		for _, m := range measured {
			if m.Subject == design {
				values = append(values, m.value(name))
			}
		}
		return bench.Median(values)
	}
	for _, design := range b.Designs {
		line := fmt.Sprintf("%-10s %s", design, bench.Human(median(design, "processed"), bench.PerSecond))
		for _, name := range percentiles {
			line += fmt.Sprintf("   %s %s", name, bench.Human(median(design, name), bench.Nanoseconds))
		}
		p.line(line)
	}
	for _, design := range b.Designs {
		for _, name := range percentiles {
			want, limited := b.AtLeast[name]
			if got := time.Duration(median(design, name)); limited && got < want {
				return p.fail("run-bench-low", design, name, got.Round(time.Microsecond), want)
			}
		}
	}
	return nil
}

// value returns a figure or a percentile; 0 if there is none of that name.
func (m measurement) value(name string) float64 {
	for _, figure := range m.Figures {
		if figure.Name == name {
			return figure.Value
		}
	}
	latency, _ := m.Latency[name].(float64)
	return latency
}

// measure runs the program.
func (p *player) measure(ctx context.Context, b Bench) ([]measurement, error) {
	limited, cancel := context.WithTimeout(ctx, p.limit(benchLimit))
	defer cancel()
	designs := strings.Join(b.Designs, ",")
	arguments := slices.Concat(p.Run.Args, b.Args, []string{"--design", designs, "-o", "json", "-q"})
	command := exec.CommandContext(limited, p.Program, arguments...)
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
		return nil, p.fail("run-bench-hangs", p.limit(benchLimit).Seconds())
	case err != nil && strings.Contains(failed.String(), "\ngoroutine "):
		return nil, errEnded
	case err != nil:
		said := strings.Split(strings.TrimSpace(failed.String()), "\n")
		p.line(said[len(said)-1])
		return nil, errOutcome
	}
	var document struct{ Results []measurement }
	if err := json.Unmarshal(out.Bytes(), &document); err != nil || len(document.Results) == 0 {
		return nil, errors.Join(err, errors.New("the benchmark did not print a result"))
	}
	return document.Results, nil
}
