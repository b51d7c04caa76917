package compare

import (
	"context"
	"fmt"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/worker"
)

// Workers is the Runner of the scenarios that run in a worker process. A side's process starts when
// it is first needed. The methods must not be called concurrently.
type Workers struct {
	commands map[Side]worker.Command
	running  map[Side]*worker.Process
}

// NewWorkers returns a new Runner with these programs. The caller must call Stop.
func NewWorkers(commands map[Side]worker.Command) *Workers {
	return &Workers{commands: commands, running: make(map[Side]*worker.Process)}
}

// Run runs the scenario in the side's worker.
func (w *Workers) Run(ctx context.Context, side Side, scenario string, effort bench.Effort) (bench.Outcome, error) {
	process, err := w.process(ctx, side)
	if err != nil {
		return bench.Outcome{}, err
	}
	return process.Run(ctx, scenario, effort)
}

func (w *Workers) process(ctx context.Context, side Side) (*worker.Process, error) {
	if process := w.running[side]; process != nil {
		return process, nil
	}
	command, ok := w.commands[side]
	if !ok {
		return nil, fmt.Errorf("there is no worker for %s", side)
	}
	process, err := worker.Start(ctx, command)
	if err != nil {
		return nil, err
	}
	w.running[side] = process
	return process, nil
}

// Stop stops the workers and returns when they are gone.
func (w *Workers) Stop() {
	for side, process := range w.running {
		process.Stop()
		delete(w.running, side)
	}
}
