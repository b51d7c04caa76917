package clusters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"orrery/internal/lab/bench"
	"orrery/upstream/bench/compare"
	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

// hundred is the scenario Hundred: many namespaces at once. Its figures are "s", from the
// controller's first request after the grace period to the answer that removes the last namespace;
// "requests", all of the controller's from the deletion to that moment without its watches; and
// "resident MiB", its memory some time after.
func (r *Runner) hundred(ctx context.Context, side compare.Side, effort bench.Effort) (bench.Outcome, error) {
	names := r.names(effort.Of(100, 20))
	var done work
	var resident float64
	err := r.withController(ctx, side, r.direct, func(process *controlplane.Process) (err error) {
		if done, err = r.deleteAll(ctx, names, true); err != nil {
			return err
		}
		resident, err = r.idleMemory(ctx, process, effort)
		return err
	})
	if err != nil {
		return bench.Outcome{}, err
	}
	proof := fmt.Sprintf("%d namespaces of %d objects deleted with their content; nothing else changed", len(names), objectsPerNamespace)
	return bench.Outcome{
		Figures: map[string]float64{"s": done.took().Seconds(), "requests": float64(done.requests), "resident MiB": resident},
		Proof:   proof,
	}, nil
}

// empty is the scenario Empty: one namespace without content, with latency. Its figures are "ms",
// from the sending of the first request to the last answer, and "requests", as for hundred.
func (r *Runner) empty(ctx context.Context, side compare.Side) (bench.Outcome, error) {
	var done work
	err := r.withController(ctx, side, r.distant, func(*controlplane.Process) (err error) {
		done, err = r.deleteAll(ctx, r.names(1), false)
		return err
	})
	if err != nil {
		return bench.Outcome{}, err
	}
	took := float64((done.took() + latency).Microseconds()) / 1000
	return bench.Outcome{
		Figures: map[string]float64{"ms": took, "requests": float64(done.requests)},
		Proof:   "the empty namespace deleted; nothing else changed",
	}, nil
}

// names returns n unused names.
func (r *Runner) names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("bench-%03d-%03d", r.runs, i)
	}
	return names
}

// withController calls do while a side's controller runs.
func (r *Runner) withController(ctx context.Context, side compare.Side, kubeconfig string, do func(*controlplane.Process) error) error {
	process, err := r.startController(ctx, side, kubeconfig)
	if err != nil {
		return err
	}
	err = do(process)
	return errors.Join(err, stopController(process))
}

// deleteAll creates namespaces, has the controller delete them, and returns its work. It fails if
// anything is left or anything else has changed.
func (r *Runner) deleteAll(ctx context.Context, names []string, filled bool) (work, error) {
	before, err := r.inventory(ctx)
	if err != nil {
		return work{}, err
	}
	if err := r.create(ctx, names, filled); err != nil {
		return work{}, err
	}
	if err := r.audit.Skip(); err != nil {
		return work{}, err
	}
	deleted := time.Now()
	if err := r.deleteAndAwait(ctx, names); err != nil {
		return work{}, err
	}
	requests, err := r.auditedUntilFinalized(ctx, names)
	if err != nil {
		return work{}, err
	}
	after, err := r.inventory(ctx)
	if err != nil {
		return work{}, err
	}
	return workSince(deleted, requests), proveUntouched(before, after)
}

// auditedUntilFinalized returns the controller's requests. A namespace is seen to be gone before
// the request that removed it is logged, so it reads the log until each namespace has that request.
func (r *Runner) auditedUntilFinalized(ctx context.Context, names []string) (requests []e2e.Request, err error) {
	waiting := map[string]bool{}
	for _, name := range names {
		waiting[name] = true
	}
	err = poll(ctx, "the last answer to be in the audit log", func() (bool, error) {
		more, err := r.audit.Read()
		for _, r := range more {
			if r.Finalizes() {
				delete(waiting, r.ObjectRef.Name)
			}
		}
		requests = append(requests, more...)
		return len(waiting) == 0, err
	})
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", err, slices.Sorted(maps.Keys(waiting)))
	}
	return requests, nil
}

// idleMemory waits until a process has been idle for some time and returns its memory.
func (r *Runner) idleMemory(ctx context.Context, process *controlplane.Process, effort bench.Effort) (residentMiB float64, err error) {
	rest := time.NewTimer(time.Duration(effort.Of(10, 5)) * time.Second)
	defer rest.Stop()
	select {
	case <-rest.C:
		return residentOf(process.PID())
	case <-process.Done():
		return 0, process.Err()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
