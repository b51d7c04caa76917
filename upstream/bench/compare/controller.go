package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orrery/internal/lab/bench"
	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

// startController starts a side's controller and returns when it watches namespaces.
func (r *cluster) startController(ctx context.Context, side Side, kubeconfig string) (*controlplane.Process, error) {
	if err := r.audit.Skip(); err != nil {
		return nil, err
	}
	subject, path, _ := r.config.subject(side)
	process, err := controlplane.StartProcess(controlplane.ProcessConfig{
		Name:    subject.Name,
		Path:    path,
		Args:    subject.Args(kubeconfig),
		LogFile: r.cp.LogFile(fmt.Sprintf("%s-%03d", subject.Name, r.runs)),
	})
	if err != nil {
		return nil, err
	}
	err = poll(ctx, "the controller to watch namespaces", pollInterval, func() (bool, error) {
		more, err := r.audit.Read()
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(more, e2e.Request.WatchesNamespaces), process.Err()
	})
	if err != nil {
		process.Kill()
		return nil, err
	}
	return process, nil
}

// residentOf returns a process's resident memory in MiB.
func residentOf(pid int) (float64, error) {
	now, _ := bench.ResidentMemoryOf(pid)
	if now == 0 {
		return 0, fmt.Errorf("process %d has no VmRSS: it has ended, or there is no /proc", pid)
	}
	return float64(now) / (1 << 20), nil
}

// poll calls done until it returns true or an error, or the context ends.
func poll(ctx context.Context, what string, every time.Duration, done func() (bool, error)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
	}
}

const pollInterval = 50 * time.Millisecond
