package worker

import (
	"context"
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
