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
	command Command
	fresh   []string // the scenarios that want a process of their own
	warm    *child   // nil after it was lost: the next Run starts another
}

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

// Start starts a worker and asks what it can do.
func Start(ctx context.Context, command Command) (*Process, error) {
	p := &Process{command: command}
	var scenarios []bench.Scenario
	warm, err := startChild(command)
	if err == nil {
		p.warm = warm
		err = warm.ask(ctx, "List", struct{}{}, &scenarios)
	}
	if err != nil {
		p.Stop()
		return nil, fmt.Errorf("%s: %w", command.Side, err)
	}
	for _, s := range scenarios {
		if s.Fresh {
			p.fresh = append(p.fresh, s.Name)
		}
	}
	return p, nil
}

// Run lets the worker do a scenario and waits for its outcome. An error names scenario and side; behind it is an
// [rpc.ServerError] if the worker said so itself. The end of the context kills the worker. After an error the next Run
// starts with a new process.
func (p *Process) Run(ctx context.Context, scenario string, effort bench.Effort) (bench.Outcome, error) {
	outcome, err := p.run(ctx, Request{Scenario: scenario, Effort: effort})
	if err != nil {
		return bench.Outcome{}, fmt.Errorf("%s on %s: %w", scenario, p.command.Side, err)
	}
	return outcome, nil
}

func (p *Process) run(ctx context.Context, asked Request) (outcome bench.Outcome, err error) {
	if slices.Contains(p.fresh, asked.Scenario) {
		fresh, err := startChild(p.command)
		if err != nil {
			return outcome, err
		}
		defer fresh.stop()
		return outcome, fresh.ask(ctx, "Run", asked, &outcome)
	}
	if p.warm == nil {
		if p.warm, err = startChild(p.command); err != nil {
			return outcome, err
		}
	}
	if err = p.warm.ask(ctx, "Run", asked, &outcome); err != nil {
		p.Stop() // who knows what it has left behind in there
	}
	return outcome, err
}

// Stop ends the worker and what it has started, and returns when they are gone. It may be called more than once.
func (p *Process) Stop() {
	if p.warm != nil {
		p.warm.stop()
		p.warm = nil
	}
}
