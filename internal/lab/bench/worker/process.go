package worker

import (
	"context"
	"fmt"
	"io"
	"slices"

	"orrery/internal/lab/bench"
)

// Process is one side of a comparison: a warm worker, and another one for each scenario that needs
// a fresh process. Its methods must not be called concurrently. The caller of Start must call Stop.
type Process struct {
	command Command
	fresh   []string // the scenarios that need a fresh process
	warm    *child   // nil after a failure: the next Run starts another
}

// Command describes how to start a worker.
type Command struct {
	// Side is the name in errors: "ours".
	Side string
	// Path is the program, Args are its arguments.
	Path string
	Args []string
	// Env is added to this process's environment.
	Env []string
	// Stderr receives the worker's error messages. Nil discards them.
	Stderr io.Writer
}

// Start starts a worker and asks for its scenarios.
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

// Run runs a scenario in the worker and waits for its outcome. Errors name scenario and side, and
// wrap an [rpc.ServerError] if the worker reported one. The end of the context kills the worker.
// After an error the next Run starts a new process.
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
		p.Stop() // its state is unknown
	}
	return outcome, err
}

// Stop ends the worker and its children, and waits for them. It may be called more than once.
func (p *Process) Stop() {
	if p.warm != nil {
		p.warm.stop()
		p.warm = nil
	}
}
