package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"

	"orrery/internal/lab/bench"
	"orrery/upstream/bench/clusters"
	"orrery/upstream/bench/compare"
)

// runners passes each scenario to a new worker process, or to a control plane that starts when it is
// first needed.
type runners struct {
	programs string
	say      func(format string, arguments ...any)
	workers  map[compare.Side]bench.Worker
	deletion *clusters.Runner
}

// newRunners returns runners for the programs in a directory.
func newRunners(programs string, say func(string, ...any)) *runners {
	ours := bench.Worker{Path: filepath.Join(programs, "bench-ours"), Stderr: os.Stderr}
	theirs := bench.Worker{Path: filepath.Join(programs, "bench-theirs"), Stderr: os.Stderr}
	textbook, inOrder, priority, realFIFO := ours, ours, theirs, theirs
	textbook.Args, inOrder.Args = []string{"textbook"}, []string{"inorder"}
	priority.Args, realFIFO.Args = []string{"priority"}, []string{"realfifo"}
	commands := map[compare.Side]bench.Worker{
		compare.Ours: ours, compare.Textbook: textbook, compare.InOrder: inOrder,
		compare.Theirs: theirs, compare.Priority: priority, compare.RealFIFO: realFIFO,
	}
	for side, command := range commands {
		command.Side = string(side)
		commands[side] = command
	}
	return &runners{programs: programs, say: say, workers: commands}
}

// Run runs a side once.
func (r *runners) Run(ctx context.Context, side compare.Side, scenario string, effort bench.Effort) (bench.Outcome, error) {
	config := clusters.Config{
		Orrery:       filepath.Join(r.programs, "orrery"),
		Lab:          filepath.Join(r.programs, "lab"),
		ControlPlane: filepath.Join(r.programs, "controlplane"),
		Kubectl:      filepath.Join(r.programs, "kubectl"),
	}
	if scenario == clusters.Servers {
		return clusters.RunServer(ctx, config, side, effort)
	}
	if !strings.HasPrefix(scenario, "deletion/") {
		return r.workers[side].Run(ctx, scenario, effort)
	}
	if r.deletion == nil {
		rest.SetDefaultWarningHandler(rest.NoWarnings{}) // the server's, about deprecated types
		r.say("starting a control plane: etcd, kube-apiserver, kube-controller-manager")
		started, err := clusters.Start(ctx, config)
		if err != nil {
			return bench.Outcome{}, err
		}
		r.deletion = started
	}
	return r.deletion.Run(ctx, side, scenario, effort)
}

// stop stops everything that was started.
func (r *runners) stop() error {
	if r.deletion == nil {
		return nil
	}
	err := r.deletion.Stop()
	r.deletion = nil
	if err != nil {
		return errors.Join(errors.New("stopping the control plane"), err)
	}
	return nil
}
