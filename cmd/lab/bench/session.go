package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/report"
)

// session runs jobs in turn and shows their results.
type session struct {
	ctx            context.Context
	options        *outputFlags
	stdout, stderr io.Writer
	varied         string // the flag of a sweep
	where          report.Machine
}

func newSession(command *cobra.Command, options *outputFlags) *session {
	return &session{
		ctx: command.Context(), options: options, stdout: command.OutOrStdout(), stderr: command.ErrOrStderr(),
		where: report.ThisMachine(),
	}
}

// run runs the jobs. An interrupted sweep shows the complete jobs.
func (s *session) run(runs []job) error {
	release, err := s.options.reservePlot()
	if err != nil {
		return err
	}
	records, err := s.measure(runs)
	if err != nil && (s.varied == "" || len(records) == 0) {
		release()
		return err
	}
	if showErr := s.show(records, err == nil); showErr != nil {
		release()
		return showErr
	}
	if err != nil {
		release()
	}
	return err
}

// measure returns the records of the complete jobs, and why the others are missing.
func (s *session) measure(runs []job) ([]jobResults, error) {
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	program.OutlivePipes()
	ctx, giveBack := program.UntilSignal(ctx, func() {
		fmt.Fprintln(os.Stderr, "\nlab: stopped at once by a second signal")
		os.Exit(program.ExitInterrupted)
	})
	defer giveBack()

	total := len(runs) * s.options.rounds
	told := total > 1 && !s.options.quiet
	if told && slices.ContainsFunc(runs, func(run job) bool { return run.pace != nil }) {
		fmt.Fprintln(s.stderr, "looking for a rate that every design sustains")
	}
	if err := s.pace(ctx, runs); err != nil {
		return nil, err
	}
	var records []jobResults
	for done := range total {
		// Round by round: a temporary disturbance of the machine affects all jobs alike.
		i := done % len(runs)
		if told {
			fmt.Fprintf(s.stderr, "[%d/%d] %s\n", done+1, total, s.name(runs[i]))
		}
		result, err := s.one(ctx, runs[i], done)
		if err != nil {
			return records, err
		}
		if i == len(records) {
			records = append(records, jobResults{job: runs[i]})
		}
		records[i].rounds = append(records[i].rounds, result)
	}
	return records, nil
}

// pace gives all designs of a value one rate for their latencies: half of what the slowest of them
// sustains. At rates of their own, a faster design would be measured under more load.
func (s *session) pace(ctx context.Context, runs []job) error {
	for len(runs) > 0 {
		slowest, rest := math.Inf(1), runs
		for len(rest) > 0 && rest[0].value == runs[0].value && rest[0].pace != nil {
			result, err := s.one(ctx, rest[0], 0)
			if err != nil {
				return err
			}
			slowest, rest = min(slowest, result.Figures[0].Value), rest[1:]
		}
		if len(rest) == len(runs) {
			rest = runs[1:] // it has a rate, or needs none
		} else if err := runs[0].pace(max(1, slowest/2)); err != nil {
			return err
		}
		runs = rest
	}
	return nil
}

// one runs one job after others. It collects their garbage first, which would count as memory.
func (s *session) one(ctx context.Context, run job, ended int) (*bench.Result, error) {
	debug.FreeOSMemory()
	meter := &bench.Meter{}
	if !s.options.quiet {
		defer bench.ShowProgress(s.stderr, meter)()
	}
	result, err := run.do(ctx, meter)
	switch name := s.name(run); {
	case ctx.Err() != nil:
		return nil, &interruptedError{run: name, phase: meter.Step(), ended: ended}
	case err != nil && name != "":
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return result, err
}

// name returns the name of a job.
func (s *session) name(run job) string {
	switch {
	case s.varied == "":
		return run.design
	case run.design == "":
		return s.varied + "=" + run.value
	default:
		return s.varied + "=" + run.value + ", " + run.design
	}
}

// show writes the results. A pipe closed by its reader is not an error.
func (s *session) show(records []jobResults, complete bool) error {
	stdout := program.NewLostReader(s.stdout, func() {})
	if err := s.options.write(stdout, s.where, s.varied, records); err != nil {
		return fmt.Errorf("the results cannot be written: %w", err)
	}
	if s.options.plot == "" || !complete {
		return nil
	}
	svg, err := s.plot(records)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.options.plot, svg, 0o666); err != nil {
		return plotError(err)
	}
	if !s.options.quiet {
		fmt.Fprintf(s.stderr, "plot: %s\n", s.options.plot)
	}
	return nil
}

// interruptedError reports that Ctrl-C ended the command during a job.
type interruptedError struct {
	run   string // empty for a single job
	phase string
	ended int // complete jobs
}

func (e *interruptedError) Error() string {
	text := "interrupted"
	if e.phase != "" {
		text += fmt.Sprintf(" during %q", e.phase)
	}
	if e.run != "" {
		text += " of " + e.run
	}
	text += "; an unfinished run has no result"
	if e.ended > 0 {
		text += fmt.Sprintf(", %d finished before", e.ended)
	}
	return text
}

func (e *interruptedError) Unwrap() error { return program.ErrInterrupted }
