package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"orrery/internal/bench"
	"orrery/internal/bench/progress"
)

// benchRun is one run: of one design, with one value of the flag that is varied.
type benchRun struct {
	// design is what the run is called among others: "batching".
	design string
	// value is what the varied flag has; empty if none is varied.
	value string
	do    func(ctx context.Context, meter *bench.Meter) (*bench.Result, error)
}

// benchRecord is a run and its result.
type benchRecord struct {
	benchRun
	result *bench.Result
}

// benchSession does runs, one after the other, and shows what came out.
type benchSession struct {
	ctx            context.Context
	options        *benchOptions
	stdout, stderr io.Writer
	varied         string // the flag of a sweep
	// ownRates tells that each run chooses the rate of its second phase, so that their latencies are not those of the
	// same load.
	ownRates bool
}

func newBenchSession(command *cobra.Command, options *benchOptions) *benchSession {
	rate := command.Flags().Lookup("rate")
	return &benchSession{
		ctx: command.Context(), options: options, stdout: command.OutOrStdout(), stderr: command.ErrOrStderr(),
		ownRates: rate != nil && rate.Value.String() == "0",
	}
}

// run does the runs. Those that have ended when a sweep is interrupted are shown; there are no results of half a run.
func (s *benchSession) run(runs []benchRun) error {
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

// measure returns the records of the runs that have ended, and why the others have not.
func (s *benchSession) measure(runs []benchRun) ([]benchRecord, error) {
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	outlivePipes()
	ctx, giveBack := untilSignal(ctx, func() {
		fmt.Fprintln(os.Stderr, "\norrery: stopped at once by a second signal")
		os.Exit(exitInterrupted)
	})
	defer giveBack()

	var records []benchRecord
	for i, run := range runs {
		if len(runs) > 1 && !s.options.quiet {
			fmt.Fprintf(s.stderr, "[%d/%d] %s\n", i+1, len(runs), s.name(run))
		}
		meter := &bench.Meter{}
		result, err := s.one(ctx, run, meter)
		if ctx.Err() != nil {
			return records, &interruptedError{run: s.name(run), phase: meter.Phase().Name, ended: len(records)}
		}
		if err != nil {
			if len(runs) > 1 {
				err = fmt.Errorf("%s: %w", s.name(run), err)
			}
			return records, err
		}
		records = append(records, benchRecord{run, result})
	}
	return records, nil
}

// one does one run. What the one before has left behind is collected first, because it would be counted as memory.
func (s *benchSession) one(ctx context.Context, run benchRun, meter *bench.Meter) (*bench.Result, error) {
	debug.FreeOSMemory()
	if !s.options.quiet {
		defer progress.Start(s.stderr, meter, progress.Config{}).Stop()
	}
	return run.do(ctx, meter)
}

// name is what a run is called.
func (s *benchSession) name(run benchRun) string {
	switch {
	case s.varied == "":
		return run.design
	case run.design == "":
		return s.varied + "=" + run.value
	default:
		return s.varied + "=" + run.value + ", " + run.design
	}
}

// show writes what came out. Nothing is lost because nobody reads it: then there is nobody to tell either.
func (s *benchSession) show(records []benchRecord, complete bool) error {
	results := make([]*bench.Result, len(records))
	for i, record := range records {
		results[i] = record.result
	}
	stdout := &lostReader{Writer: s.stdout, lost: func() {}}
	if err := s.options.write(stdout, s.varied, results); err != nil {
		return fmt.Errorf("the results cannot be written: %w", err)
	}
	if s.ownRates && s.varied != "rate" && len(records) > 1 && !s.options.quiet {
		fmt.Fprintln(s.stderr, "note: each run had half of its own throughput in the second phase; with --rate their latencies are those of the same load")
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

// interruptedError says that somebody did not want to wait any longer.
type interruptedError struct {
	run   string // empty if there was only one
	phase string
	ended int // runs that had ended before
}

func (e *interruptedError) Error() string {
	text := "interrupted"
	if e.phase != "" {
		text += fmt.Sprintf(" during %q", e.phase)
	}
	if e.run != "" {
		text += " of " + e.run
	}
	text += "; a run that has not ended has no result"
	if e.ended > 0 {
		text += fmt.Sprintf(", %d had ended before", e.ended)
	}
	return text
}
