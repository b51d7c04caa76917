package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
)

// benchRun runs jobs in turn and shows their results.
type benchRun struct {
	options        *outputFlags
	stdout, stderr io.Writer
	varied         string // the flag of a sweep
}

// run runs the jobs.
func (s *benchRun) run(ctx context.Context, jobs []job) error {
	program.OutlivePipes()
	ctx, giveBack := program.UntilSignal(ctx, func() {
		fmt.Fprintln(os.Stderr, "\nlab: stopped at once by a second signal")
		os.Exit(program.ExitInterrupted)
	})
	defer giveBack()

	if err := s.pace(ctx, jobs); err != nil {
		return err
	}
	total := len(jobs) * s.options.rounds
	results := make([]bench.Rounds, len(jobs))
	for done := range total {
		// Round by round: a temporary disturbance of the machine affects all jobs alike.
		i := done % len(jobs)
		if total > 1 && !s.options.quiet {
			fmt.Fprintf(s.stderr, "[%d/%d] %s\n", done+1, total, s.name(jobs[i]))
		}
		result, err := s.one(ctx, jobs[i])
		if err != nil {
			return err
		}
		results[i] = append(results[i], result)
	}
	return s.show(results)
}

// pace gives all designs of a value one rate for their latencies: half of what the slowest of them
// sustains. At rates of their own, a faster design would be measured under more load.
func (s *benchRun) pace(ctx context.Context, jobs []job) error {
	for len(jobs) > 0 {
		slowest, rest := math.Inf(1), jobs
		for len(rest) > 0 && rest[0].value == jobs[0].value && rest[0].pace != nil {
			result, err := s.one(ctx, rest[0])
			if err != nil {
				return err
			}
			slowest, rest = min(slowest, result.Figures[0].Value), rest[1:]
		}
		if len(rest) == len(jobs) {
			rest = jobs[1:] // it has a rate, or needs none
		} else if err := jobs[0].pace(max(1, slowest/2)); err != nil {
			return err
		}
		jobs = rest
	}
	return nil
}

// one runs one job after others. It collects their garbage first, which would count as memory.
func (s *benchRun) one(ctx context.Context, j job) (*bench.Result, error) {
	debug.FreeOSMemory()
	meter := &bench.Meter{}
	if !s.options.quiet {
		defer bench.ShowProgress(s.stderr, meter)()
	}
	result, err := j.do(ctx, meter)
	switch name := s.name(j); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w during %q; an unfinished run has no result", program.ErrInterrupted, meter.Step())
	case err != nil && name != "":
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return result, err
}

// name returns the name of a job.
func (s *benchRun) name(j job) string {
	switch {
	case s.varied == "":
		return j.design
	case j.design == "":
		return s.varied + "=" + j.value
	default:
		return s.varied + "=" + j.value + ", " + j.design
	}
}

// show writes the results in the chosen format. A pipe closed by its reader is not an error.
func (s *benchRun) show(all []bench.Rounds) error {
	stdout, where := program.NewLostReader(s.stdout, func() {}), bench.ThisMachine()
	var err error
	switch s.options.output {
	case outputJSON:
		err = bench.JSON(stdout, where, all)
	case outputBenchfmt:
		err = bench.Benchfmt(stdout, where, all)
	default:
		err = bench.Table(stdout, where, s.varied, all)
	}
	if err != nil {
		return fmt.Errorf("the results cannot be written: %w", err)
	}
	return nil
}
