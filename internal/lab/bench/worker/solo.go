package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"

	"orrery/internal/lab/bench"
)

// solo runs scenarios for somebody who looks at one side alone.
type solo struct {
	effort                 string
	rounds                 int
	cpuProfile, memProfile string
}

func (s solo) run(ctx context.Context, out io.Writer, scenarios []bench.Scenario, names []string) error {
	effort, err := parseEffort(s.effort)
	if err != nil {
		return err
	}
	if s.memProfile != "" {
		runtime.MemProfileRate = 16 << 10
	}
	err = s.profiled(func() error {
		for _, name := range names {
			for range s.rounds {
				outcome, err := run(ctx, scenarios, name, effort)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				printOutcome(out, name, outcome)
			}
		}
		return nil
	})
	if err != nil || s.memProfile == "" {
		return err
	}
	return writeFile(s.memProfile, func(file io.Writer) error {
		return pprof.Lookup("allocs").WriteTo(file, 0)
	})
}

func (s solo) profiled(work func() error) error {
	if s.cpuProfile == "" {
		return work()
	}
	return writeFile(s.cpuProfile, func(file io.Writer) error {
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
		return work()
	})
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

func printOutcome(out io.Writer, name string, outcome bench.Outcome) {
	fmt.Fprintln(out, name)
	for _, figure := range slices.Sorted(maps.Keys(outcome.Figures)) {
		fmt.Fprintf(out, "  %-20s %.6g\n", figure, outcome.Figures[figure])
	}
	fmt.Fprintf(out, "  %s\n", outcome.Proof)
}
