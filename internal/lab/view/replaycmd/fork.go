package replaycmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

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
	case !result.Compared:
		fmt.Fprintln(out, "The pipeline is at rest. The recording was not at rest here, so there is nothing to compare.")
	case len(result.Differences) == 0:
		fmt.Fprintln(out, "The pipeline is at rest: stores, queues and conditions are as in the recording.")
	default:
		fmt.Fprintln(out, "The pipeline is at rest, but not as in the recording:")
		for _, difference := range result.Differences {
			fmt.Fprintln(out, "  "+difference)
		}
	}
}

// forks are the forks of the page that shows a recording: one at a time.
type forks struct {
	ctx  context.Context
	name string
	read func() (*fork.Recording, error)

	mu   sync.Mutex
	live *fork.Live // guarded by mu; nil: none
}

func newForks(ctx context.Context, name string) *forks {
	return &forks{ctx: ctx, name: name, read: sync.OnceValues(func() (*fork.Recording, error) { return readFork(name) })}
}

// Inputs implements view.Forks.
func (f *forks) Inputs() (any, error) { return f.read() }

// Fork implements view.Forks. It ends an earlier fork.
func (f *forks) Fork(at, without int) (address string, err error) {
	recording, err := f.read()
	if err != nil {
		return "", err
	}
	f.stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	serve := func(config view.Config) (*view.Server, error) {
		config.Code = source
		return view.Start(config)
	}
	f.live, err = recording.Live(f.ctx, at, without, serve, func(fork.Input, fork.Result) {})
	if err != nil {
		return "", err
	}
	return f.live.URL(), nil
}

// stop ends the fork, if there is one.
func (f *forks) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live != nil {
		f.live.Stop()
		f.live = nil
	}
}
