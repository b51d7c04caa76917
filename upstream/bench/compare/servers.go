package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"orrery/internal/lab/bench"
	"orrery/upstream/controlplane"
	"orrery/wait"
)

// Servers is the scenario of the API servers to try a controller on: "lab serve", which keeps
// everything in the memory of one process, and a genuine control plane of etcd, kube-apiserver and
// kube-controller-manager with its garbage collector. One is started, asked by kubectl, and left
// alone. Its figures are "start ms", from the start of the first process to kubectl's first answer;
// "kubectl ms", the median of a kubectl process that lists the namespaces; and "resident MiB", the
// memory of all processes at rest.
const Servers = "server/start"

// serversTimeout bounds a run at several times what a control plane takes.
const serversTimeout = 3 * time.Minute

// runServer starts a side's server, measures, and stops it.
func runServer(ctx context.Context, config programs, side Side, effort bench.Effort) (bench.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, serversTimeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "bench-server-")
	if err != nil {
		return bench.Outcome{}, err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	s, err := config.start(ctx, side, dir)
	if err != nil {
		return bench.Outcome{}, fmt.Errorf("%s of %s: %w", Servers, side, err)
	}
	outcome, err := config.measure(ctx, s, began, effort)
	return outcome, errors.Join(err, s.stop())
}

// started is a server that runs.
type started struct {
	kubeconfig string
	processes  []int
	stop       func() error
}

func (c programs) start(ctx context.Context, side Side, dir string) (started, error) {
	switch side {
	case Ours:
		return c.startLab(ctx, dir)
	case Theirs:
		return c.startControlPlane(ctx)
	}
	return started{}, errors.New("there is no such server")
}

func (c programs) startLab(ctx context.Context, dir string) (started, error) {
	kubeconfig := filepath.Join(dir, "kubeconfig")
	process, err := controlplane.StartProcess(controlplane.ProcessConfig{
		Name: "lab serve", Path: c.Lab, LogFile: filepath.Join(dir, "log"),
		Args: []string{"serve", "--kubeconfig-out", kubeconfig},
	})
	if err != nil {
		return started{}, err
	}
	s := started{kubeconfig: kubeconfig, processes: []int{process.PID()}}
	s.stop = func() error {
		err := process.Err()
		process.Stop(context.Background())
		return err
	}
	err = poll(ctx, "lab serve to write its kubeconfig", time.Millisecond, func() (bool, error) {
		_, err := os.Stat(kubeconfig)
		return err == nil, process.Err()
	})
	if err != nil {
		process.Stop(context.Background())
		return started{}, err
	}
	return s, nil
}

func (c programs) startControlPlane(ctx context.Context) (started, error) {
	cp, err := controlplane.Start(ctx, controlplane.Config{
		Binary: c.ControlPlane, Controllers: []string{"garbage-collector-controller"},
	})
	if err != nil {
		return started{}, err
	}
	return started{kubeconfig: cp.Kubeconfig(), processes: cp.PIDs(), stop: cp.Stop}, nil
}

func (c programs) measure(ctx context.Context, s started, began time.Time, effort bench.Effort) (bench.Outcome, error) {
	if _, err := c.listNamespaces(ctx, s); err != nil {
		return bench.Outcome{}, err
	}
	start := time.Since(began)
	var took []time.Duration
	for range effort.Of(20, 5) {
		one, err := c.listNamespaces(ctx, s)
		if err != nil {
			return bench.Outcome{}, err
		}
		took = append(took, one)
	}
	slices.Sort(took)
	if err := wait.Sleep(ctx, time.Duration(effort.Of(10, 2))*time.Second); err != nil {
		return bench.Outcome{}, err
	}
	resident := 0.0
	for _, pid := range s.processes {
		mib, err := residentOf(pid)
		if err != nil {
			return bench.Outcome{}, err
		}
		resident += mib
	}
	return bench.Outcome{
		Figures: map[string]float64{
			"start ms": milliseconds(start), "kubectl ms": milliseconds(took[len(took)/2]), "resident MiB": resident,
		},
		Proof: "kubectl lists the four namespaces of a new cluster",
	}, nil
}

// listNamespaces runs kubectl once and returns how long that took.
func (c programs) listNamespaces(ctx context.Context, s started) (time.Duration, error) {
	command := exec.CommandContext(ctx, c.Kubectl, "--kubeconfig", s.kubeconfig, "get", "namespaces",
		"default", "kube-node-lease", "kube-public", "kube-system")
	began := time.Now()
	output, err := command.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, output)
	}
	return time.Since(began), nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
