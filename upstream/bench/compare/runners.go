package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"

	"orrery/internal/lab/bench"
)

// runners passes each scenario to a new worker process, or to a control plane that starts when it
// is first needed.
type runners struct {
	directory string // of the programs
	say       func(text string)
	deletion  *cluster
}

// workers are the worker programs of the sides, with their arguments.
var workers = map[Side][]string{
	Ours: {"bench-ours"}, Textbook: {"bench-ours", "textbook"}, InOrder: {"bench-ours", "inorder"},
	Theirs: {"bench-theirs"}, Priority: {"bench-theirs", "priority"}, RealFIFO: {"bench-theirs", "realfifo"},
}

// Run runs a side once.
func (r *runners) Run(
	ctx context.Context, side Side, scenario string, effort bench.Effort,
) (bench.Outcome, error) {
	if !strings.HasPrefix(scenario, "deletion/") {
		command := workers[side]
		worker := bench.Worker{Side: string(side), Path: filepath.Join(r.directory, command[0]), Args: command[1:]}
		return worker.Run(ctx, scenario, effort)
	}
	if r.deletion == nil {
		rest.SetDefaultWarningHandler(rest.NoWarnings{}) // the server's, about deprecated types
		r.say("starting a control plane: etcd, kube-apiserver, kube-controller-manager")
		started, err := startCluster(ctx, programs{
			Orrery:       filepath.Join(r.directory, "orrery"),
			ControlPlane: filepath.Join(r.directory, "controlplane"),
		})
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
	if err := r.deletion.Stop(); err != nil {
		return fmt.Errorf("stopping the control plane: %w", err)
	}
	return nil
}
