package deletion

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
)

// hundred is the scenario Hundred: many namespaces at once. Its figures are "s", from the arrival of the controller's first
// request after the grace period to the answer with which the last namespace goes; "requests", all of the controller's
// from the deletion to that moment, without its watches; and "resident MiB", that of Idle: one run brings back both.
func (r *Runner) hundred(ctx context.Context, side compare.Side, effort bench.Effort) (bench.Outcome, error) {
	names := r.names(effort.Of(100, 20))
	var done work
	var resident float64
	err := r.withController(ctx, side, r.direct, func(process *controlplane.Process) (err error) {
		if done, err = r.deleteAll(ctx, names, true); err != nil {
			return err
		}
		resident, err = r.settle(ctx, process, effort)
		return err
	})
	if err != nil {
		return bench.Outcome{}, err
	}
	proof := fmt.Sprintf("%d namespaces of %d objects are gone with all that was in them, and everything else is as it was", len(names), objectsPerNamespace)
	r.logf("%s %s: %.3f s, %d requests; %.1f MiB at rest", Hundred, side, done.took().Seconds(), done.requests, resident)
	return bench.Outcome{
		Figures: map[string]float64{"s": done.took().Seconds(), "requests": float64(done.requests), "resident MiB": resident},
		Proof:   proof,
	}, nil
}

// atRest is the scenario Idle: what a process holds some time after the work of hundred. Its figure is "resident MiB".
func (r *Runner) atRest(ctx context.Context, side compare.Side, effort bench.Effort) (bench.Outcome, error) {
	outcome, err := r.hundred(ctx, side, effort)
	if err != nil {
		return bench.Outcome{}, err
	}
	const figure = "resident MiB"
	outcome.Figures = map[string]float64{figure: outcome.Figures[figure]}
	return outcome, nil
}

// empty is the scenario Empty: one namespace without content, far from the server. Its figures are "ms", from the moment
// when the first request was sent to the last answer, and "requests", as for hundred.
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
	r.logf("%s %s: %.1f ms, %d requests", Empty, side, took, done.requests)
	return bench.Outcome{
		Figures: map[string]float64{"ms": took, "requests": float64(done.requests)},
		Proof:   "the empty namespace is gone, and everything else is as it was",
	}, nil
}

// names are new ones for each run.
func (r *Runner) names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("bench-%03d-%03d", r.runs, i)
	}
	return names
}

// withController does something while a side's controller runs.
func (r *Runner) withController(ctx context.Context, side compare.Side, kubeconfig string, do func(*controlplane.Process) error) error {
	process, err := r.startController(ctx, side, kubeconfig)
	if err != nil {
		return err
	}
	err = do(process)
	return errors.Join(err, stopController(process))
}

// deleteAll makes namespaces, has the controller delete them, and returns what that took it. It fails if anything is
// left, or if anything else was touched.
func (r *Runner) deleteAll(ctx context.Context, names []string, filled bool) (work, error) {
	before, err := r.inventory.take(ctx)
	if err != nil {
		return work{}, err
	}
	if err := r.create(ctx, names, filled); err != nil {
		return work{}, err
	}
	if err := r.audit.skip(); err != nil {
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
	after, err := r.inventory.take(ctx)
	if err != nil {
		return work{}, err
	}
	return workSince(deleted, requests), proveUntouched(before, after)
}

// auditedUntilFinalized returns the controller's requests. A namespace is seen to be gone before the request that made
// it go is answered and written down, so the log is read until it has that of each namespace.
func (r *Runner) auditedUntilFinalized(ctx context.Context, names []string) (requests []request, err error) {
	waiting := map[string]bool{}
	for _, name := range names {
		waiting[name] = true
	}
	err = poll(ctx, "the last answer to be in the audit log", func() (bool, error) {
		more, err := r.audit.read()
		for _, r := range more {
			if r.finalizes() {
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

// settle waits until a process has been at rest for some time and returns its memory.
func (r *Runner) settle(ctx context.Context, process *controlplane.Process, effort bench.Effort) (residentMiB float64, err error) {
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
