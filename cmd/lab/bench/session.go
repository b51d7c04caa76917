package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
)

// session runs jobs in turn and shows their results.
type session struct {
	ctx            context.Context
	options        *outputFlags
	stdout, stderr io.Writer
	varied         string // the flag of a sweep
	// ownRates means that each job chooses the rate of its second phase, so their latencies are not
	// comparable.
	ownRates bool
}

func newSession(command *cobra.Command, options *outputFlags) *session {
	rate := command.Flags().Lookup("rate")
	return &session{
		ctx: command.Context(), options: options, stdout: command.OutOrStdout(), stderr: command.ErrOrStderr(),
		ownRates: rate != nil && rate.Value.String() == "0",
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

	var records []jobResults
	total := len(runs) * s.options.rounds
	for done := range total {
		// Round by round: a temporary disturbance of the machine affects all jobs alike.
		i := done % len(runs)
		if total > 1 && !s.options.quiet {
			fmt.Fprintf(s.stderr, "[%d/%d] %s\n", done+1, total, s.name(runs[i]))
		}
		meter := &bench.Meter{}
		result, err := s.one(ctx, runs[i], meter)
		if ctx.Err() != nil {
			return records, &interruptedError{run: s.name(runs[i]), phase: meter.Phase().Name, ended: done}
		}
		if err != nil {
			if len(runs) > 1 {
				err = fmt.Errorf("%s: %w", s.name(runs[i]), err)
			}
			return records, err
		}
		if i == len(records) {
			records = append(records, jobResults{job: runs[i]})
		}
		records[i].rounds = append(records[i].rounds, result)
	}
	return records, nil
}

// one runs one job. It collects the garbage of the previous one first, which would count as memory.
func (s *session) one(ctx context.Context, run job, meter *bench.Meter) (*bench.Result, error) {
	debug.FreeOSMemory()
	if !s.options.quiet {
		defer bench.ShowProgress(s.stderr, meter)()
	}
	return run.do(ctx, meter)
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
	if err := s.options.write(stdout, s.varied, records); err != nil {
		return fmt.Errorf("the results cannot be written: %w", err)
	}
	if s.ownRates && s.varied != "rate" && len(records) > 1 && !s.options.quiet {
		fmt.Fprintln(s.stderr, "note: the second phase of each run had half of its own throughput; use --rate to compare latencies at the same load")
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
