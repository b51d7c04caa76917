package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"

	"orrery/internal/lab/bench"
)

// runners passes each scenario to a new worker process, or to a control plane that starts when it
// is first needed.
type runners struct {
	programs programs
	say      func(text string)
	workers  map[Side]bench.Worker
	deletion *cluster
}

// newRunners returns runners for the programs in a directory.
func newRunners(directory string, say func(string)) *runners {
	ours := bench.Worker{Path: filepath.Join(directory, "bench-ours")}
	theirs := bench.Worker{Path: filepath.Join(directory, "bench-theirs")}
	textbook, inOrder, priority, realFIFO := ours, ours, theirs, theirs
	textbook.Args, inOrder.Args = []string{"textbook"}, []string{"inorder"}
	priority.Args, realFIFO.Args = []string{"priority"}, []string{"realfifo"}
	commands := map[Side]bench.Worker{
		Ours: ours, Textbook: textbook, InOrder: inOrder,
		Theirs: theirs, Priority: priority, RealFIFO: realFIFO,
	}
	for side, command := range commands {
		command.Side = string(side)
		commands[side] = command
	}
	return &runners{workers: commands, say: say, programs: programs{
		Orrery:       filepath.Join(directory, "orrery"),
		ControlPlane: filepath.Join(directory, "controlplane"),
	}}
}

// Run runs a side once.
func (r *runners) Run(
	ctx context.Context, side Side, scenario string, effort bench.Effort,
) (bench.Outcome, error) {
	if !strings.HasPrefix(scenario, "deletion/") {
		return r.workers[side].Run(ctx, scenario, effort)
	}
	if r.deletion == nil {
		rest.SetDefaultWarningHandler(rest.NoWarnings{}) // the server's, about deprecated types
		r.say("starting a control plane: etcd, kube-apiserver, kube-controller-manager")
		started, err := startCluster(ctx, r.programs)
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
