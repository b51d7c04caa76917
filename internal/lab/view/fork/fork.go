package fork

import (
	"context"
	"fmt"
	"io"
	"strings"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/internal/lab/view"
	"orrery/internal/observe/trace"
	"orrery/restclient"
)

// Config configures a fork.
type Config struct {
	// At is the number of the input after which the fork goes on by itself. Without is the number of
	// an input before it that is left out; 0: none.
	At, Without int
	// Recorder records the fork, and Gates hold it.
	Recorder *trace.Recorder
	Gates    *view.Gates
	// Server is the address of a new server, Credentials are those of its clients, and Faults its
	// faults.
	Server      restclient.Config
	Credentials map[story.Client]restclient.Credentials
	Faults      *faults.Set
	// Done is called after each input.
	Done func(input Input, result Result)
}

// Result compares a fork after an input with the recording before its next input.
type Result struct {
	// Busy: the fork did not come to rest in a minute.
	Busy bool
	// Compared: both were at rest.
	Compared bool
	// Differences say what is not as in the recording.
	Differences []string
}

// Outcome is the name of the result in the page's sentences, with the differences, one a line.
func (r Result) Outcome() (name, about string) {
	switch {
	case r.Busy:
		return "busy", ""
	case !r.Compared:
		return "uncompared", ""
	case len(r.Differences) == 0:
		return "same", ""
	}
	return "different", strings.Join(r.Differences, "\n")
}

// Check returns why there is no fork at an input or without another one; nil if there is.
func (r *Recording) Check(at, without int) error {
	switch {
	case r.Refused != nil:
		return r.Refused
	case at < 1 || at > len(r.Inputs):
		return fmt.Errorf("there is no input %d; the recording has the inputs 1 to %d", at, len(r.Inputs))
	case without < 0 || without >= at:
		return fmt.Errorf("input %d cannot be left out: it must be before input %d, at which the fork goes on", without, at)
	}
	if refused := r.Inputs[at-1].Refused; refused != nil {
		return refused
	}
	return nil
}

// Start does the inputs of a recording again, up to Config.At, and returns when the pipeline is at
// rest. It goes on until the caller calls stop.
func (r *Recording) Start(ctx context.Context, config Config) (stop func(), err error) {
	if err := r.Check(config.At, config.Without); err != nil {
		return nil, err
	}
	on, err := stage.Open(ctx, stage.Config{
		Teller: r.Scene.Story(), Server: config.Server, Credentials: config.Credentials, Faults: config.Faults,
		Objects: r.objects(), Gears: r.Gears, Recorder: config.Recorder, Gates: config.Gates,
	}, r.Scene.Options)
	if err != nil {
		return nil, err
	}
	p := &player{on: on, gates: config.Gates}
	acting, cancel := context.WithCancel(ctx)
	stop = func() {
		cancel()
		_, _ = p.returned()
		on.Close()
	}
	if err := r.play(acting, p, config); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// play does the inputs.
func (r *Recording) play(ctx context.Context, p *player, config Config) error {
	for _, input := range r.Inputs[:config.At] {
		if input.Number == config.Without {
			continue
		}
		last := input.Number == config.At
		if failing, err := p.do(ctx, input, last || ofGates(r.Inputs[input.Number])); err != nil {
			return failed(ctx, failing, config.Without, err)
		}
		result, err := p.await(ctx, config.Recorder, input, last)
		if err != nil {
			return err
		}
		if config.Done != nil {
			config.Done(input, result)
		}
	}
	return nil
}

// failed is the error of an input.
func failed(ctx context.Context, input Input, without int, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := fmt.Sprintf("input %d (%s) cannot be done", input.Number, input)
	if without > 0 {
		text += fmt.Sprintf(" without input %d", without)
	}
	return fmt.Errorf("%s: %w", text, err)
}

// Print writes the inputs as a table.
func (r *Recording) Print(out io.Writer) {
	for _, input := range r.Inputs {
		fmt.Fprintf(out, "%4d %8.1f s  %s\n", input.Number, input.At.Seconds(), input)
		if input.Refused != nil && r.Refused == nil {
			fmt.Fprintf(out, "%17sno fork here: %v\n", "", input.Refused)
		}
	}
}
