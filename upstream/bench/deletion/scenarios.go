package deletion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"orrery/internal/bench"
	"orrery/upstream/bench/compare"
	"orrery/upstream/controlplane"
)

// How the figures are measured, for people who read them.
const (
	// HowHundredSeconds is about the figure "s" of Hundred.
	HowHundredSeconds = "A control plane of etcd, kube-apiserver 1.36 and kube-controller-manager, without a namespace controller, on the same two cores. " +
		"100 namespaces of 11 objects each (2 service accounts, 4 ConfigMaps, 3 Secrets, a Role and a RoleBinding) are deleted at once beside `orrery run`, or beside kube-controller-manager with its namespace controller alone: a fresh process for each run, with its default flags, as the same user. " +
		"The time is kube-apiserver's, from its audit log: from the arrival of the controller's first request, after the 5 s for which both leave a deleted namespace alone, to the answer with which the last namespace goes. " +
		"Proof: every namespace and everything in it is gone, and all else in the cluster, a namespace with the same content included, is as it was, version by version."
	// HowHundredRequests is about the figure "requests" of Hundred.
	HowHundredRequests = "The same runs: the controller's requests by kube-apiserver's audit log, from the deletion to the end of the last namespace. Everything counts, discovery included, but for its open watches. " +
		"When several namespaces are in deletion `orrery run` lists each type once for all of them, and asks in a namespace only for the types that it may hold something of; kube-controller-manager sends two requests for each of 31 types in each namespace."
	// HowEmptyMilliseconds is about the figure "ms" of Empty.
	HowEmptyMilliseconds = "One namespace with nothing in it is deleted while the controller reaches kube-apiserver through a relay that delivers what it sends 5 ms later, in order, without limit to what is under way: each request takes 5 ms longer, and those sent side by side do not wait for each other. " +
		"The time is from the controller's first request to the last answer by the audit log, with the 5 ms of the first request's way. The process is fresh: nothing is known from an earlier deletion."
	// HowEmptyRequests is about the figure "requests" of Empty.
	HowEmptyRequests = "The same runs: the controller's requests from the deletion to the end, by the audit log, without its open watches."
	// HowIdleResident is about the figure "resident MiB" of Idle.
	HowIdleResident = "VmRSS of the whole process in `/proc`, with its caches in sync, ten seconds after it has deleted the 100 namespaces. Pages of the program's file count as far as they are in memory: with `orrery run` they are three quarters of it. " +
		"`orrery run` gives the memory of a burst back to the machine when it has had nothing to do for three seconds."
)

// hundred is the scenario Hundred: many namespaces at once. Its figures are "s", "requests" and "resident MiB", which is
// that of Idle: a run brings back both.
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

// atRest is the scenario Idle: what a process holds after the work of hundred. Its figure is "resident MiB".
func (r *Runner) atRest(ctx context.Context, side compare.Side, effort bench.Effort) (bench.Outcome, error) {
	outcome, err := r.hundred(ctx, side, effort)
	if err != nil {
		return bench.Outcome{}, err
	}
	const figure = "resident MiB"
	outcome.Figures = map[string]float64{figure: outcome.Figures[figure]}
	return outcome, nil
}

// empty is the scenario Empty: one namespace without content, far from the server. Its figures are "ms" and "requests".
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
	r.audit.skip()
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
