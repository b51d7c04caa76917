package replaycmd

import (
	"context"
	"fmt"
	"io"
	"os"

	"orrery/internal/lab/view/fork"
	"orrery/internal/observe/view"
	"orrery/internal/program"
)

// readFork reads what a fork needs of a file.
func readFork(name string) (*fork.Recording, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	recording, err := fork.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return recording, nil
}

// printInputs is "lab replay FILE --inputs".
func printInputs(name string, out io.Writer) error {
	recording, err := readFork(name)
	if err != nil {
		return err
	}
	recording.Print(out)
	if recording.Refused != nil {
		return fmt.Errorf("%s cannot be forked: %w", name, recording.Refused)
	}
	fmt.Fprintf(out, "lab replay %s --fork N goes on from one of them.\n", name)
	return nil
}

// runFork is "lab replay FILE --fork N".
func runFork(ctx context.Context, name string, options *replayOptions, out io.Writer) error {
	recording, err := readFork(name)
	if err != nil {
		return err
	}
	if err := recording.Check(options.fork, options.without); err != nil {
		return fmt.Errorf("%s cannot be forked: %w", name, err)
	}
	ctx, release := program.UntilSignal(ctx, func() { os.Exit(program.ExitInterrupted) })
	defer release()
	serve := func(config view.Config) (*view.Server, error) {
		config.Code = source
		return options.view.Start(config, out)
	}
	fmt.Fprintln(out, "The inputs are done again. Each is listed when the pipeline has come to rest after it.")
	var last fork.Result
	live, err := recording.Live(ctx, options.fork, options.without, serve, func(input fork.Input, result fork.Result) {
		fmt.Fprintf(out, "%4d  %s\n", input.Number, input)
		last = result
	})
	if err != nil {
		return err
	}
	defer live.Stop()
	switch err := live.Rest(); {
	case ctx.Err() != nil:
		return program.Stopped(ctx)
	case err != nil:
		return err
	}
	printResult(out, last)
	fmt.Fprintln(out, "The fork goes on in the view. Ctrl-C ends it.")
	<-ctx.Done()
	return nil
}

// printResult says how the fork compares with the recording.
func printResult(out io.Writer, result fork.Result) {
	switch {
	case result.Busy:
		fmt.Fprintln(out, "The pipeline has not come to rest in a minute.")
	case !result.Compared:
		fmt.Fprintln(out, "The pipeline is at rest. The recording went on before it was, so the two are not compared.")
	case len(result.Differences) == 0:
		fmt.Fprintln(out, "The pipeline is at rest: stores, queues and conditions are as in the recording.")
	default:
		fmt.Fprintln(out, "The pipeline is at rest, but not as in the recording (+ only the fork has it, − only the recording):")
		for _, difference := range result.Differences {
			fmt.Fprintln(out, "  "+difference)
		}
	}
}
