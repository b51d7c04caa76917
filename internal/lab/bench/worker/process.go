package worker

import (
	"context"
	"fmt"
	"io"
	"slices"

	"orrery/internal/lab/bench"
)

// Process is one side: a worker that stays for the scenarios that do not mind, and one more for each that wants to be the
// first in its process. Its methods must not be called at the same time. Whoever starts it calls Stop.
type Process struct {
	command   Command
	scenarios []listed
	warm      *child // nil after it was lost: the next Run starts another
}

// Start starts a worker and asks what it can do.
func Start(ctx context.Context, command Command) (*Process, error) {
	p := &Process{command: command}
	if err := p.begin(ctx); err != nil {
		p.Stop()
		return nil, &Error{Side: command.Side, Err: err}
	}
	return p, nil
}

func (p *Process) begin(ctx context.Context) error {
	warm, err := startChild(p.command)
	if err != nil {
		return err
	}
	p.warm = warm
	reply, err := warm.ask(ctx, request{List: true})
	if err != nil {
		return err
	}
	p.scenarios = reply.Scenarios
	return nil
}

// Scenarios returns the names of what the worker can do.
func (p *Process) Scenarios() []string {
	names := make([]string, len(p.scenarios))
	for i, s := range p.scenarios {
		names[i] = s.Name
	}
	return names
}

// Run lets the worker do a scenario and waits for its outcome. Errors are [*Error]; the end of the context kills the
// worker. After an error the next Run starts with a new process.
func (p *Process) Run(ctx context.Context, scenario string, effort bench.Effort) (bench.Outcome, error) {
	outcome, err := p.run(ctx, scenario, effort)
	if err != nil {
		return bench.Outcome{}, &Error{Side: p.command.Side, Scenario: scenario, Err: err}
	}
	return outcome, nil
}

func (p *Process) run(ctx context.Context, scenario string, effort bench.Effort) (bench.Outcome, error) {
	asked := request{Scenario: scenario, Effort: effort.String()}
	if slices.Contains(p.scenarios, listed{Name: scenario, Fresh: true}) {
		fresh, err := startChild(p.command)
		if err != nil {
			return bench.Outcome{}, err
		}
		defer fresh.stop()
		return outcomeOf(fresh.ask(ctx, asked))
	}
	if p.warm == nil {
		warm, err := startChild(p.command)
		if err != nil {
			return bench.Outcome{}, err
		}
		p.warm = warm
	}
	outcome, err := outcomeOf(p.warm.ask(ctx, asked))
	if err != nil {
		p.Stop() // who knows what it has left behind in there
	}
	return outcome, err
}

func outcomeOf(reply answer, err error) (bench.Outcome, error) {
	switch {
	case err != nil:
		return bench.Outcome{}, err
	case reply.Outcome == nil:
		return bench.Outcome{}, &Refusal{Text: reply.Error}
	}
	return *reply.Outcome, nil
}

// Stop ends the worker and what it has started, and returns when they are gone. It may be called more than once.
func (p *Process) Stop() {
	if p.warm != nil {
		p.warm.stop()
		p.warm = nil
	}
}

// request is a line that a worker reads: do a scenario, or list them all.
type request struct {
	Scenario string `json:"scenario,omitempty"`
	// Effort is the name of a bench.Effort.
	Effort string `json:"effort,omitempty"`
	List   bool   `json:"list,omitempty"`
}

// answer is the line that a worker writes for each request: an outcome, an error, or the list.
type answer struct {
	Outcome   *bench.Outcome `json:"outcome,omitempty"`
	Error     string         `json:"error,omitempty"`
	Scenarios []listed       `json:"scenarios,omitempty"`
}

// listed is a scenario in the list.
type listed struct {
	Name  string `json:"name"`
	Fresh bool   `json:"fresh,omitempty"`
}

// Error says which scenario of which side did not run. Its cause is what [errors.As] finds behind it.
type Error struct {
	// Side is the name of the process.
	Side string
	// Scenario is what it was asked to do, or empty if it could not be asked.
	Scenario string
	// Err is why: a [*Refusal] if the worker said so itself.
	Err error
}

func (e *Error) Error() string {
	if e.Scenario == "" {
		return fmt.Sprintf("%s: %v", e.Side, e.Err)
	}
	return fmt.Sprintf("%s on %s: %v", e.Scenario, e.Side, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Command says how to start a worker.
type Command struct {
	// Side is what errors call the worker: "ours".
	Side string
	// Path is the program, Args are its arguments.
	Path string
	Args []string
	// Env is added to this process's environment.
	Env []string
	// Stderr is where the worker's complaints go. Nil discards them.
	Stderr io.Writer
}
