package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"orrery/internal/lab/bench"
	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

// scenario is a number of namespaces that are deleted at once.
type deletion struct {
	full, quick int  // namespaces, by effort
	filled      bool // with the content of a small application
	distant     bool // the controller is behind the proxy
	rests       bool // the controller's memory at rest is a figure
}

// scenarios are all of them. Their figures are "s" and "ms", from the sending of the controller's
// first request after the grace period to the answer that removes the last namespace; "requests",
// all of the controller's from the deletion to that moment without its watches; and "resident MiB".
var deletions = map[string]deletion{
	Hundred: {full: 100, quick: 20, filled: true, rests: true},
	Empty:   {full: 1, quick: 1, distant: true},
}

// run runs a scenario with a fresh controller.
func (r *cluster) run(ctx context.Context, side Side, s deletion, effort bench.Effort) (bench.Outcome, error) {
	names, kubeconfig, away := r.names(effort.Of(s.full, s.quick)), r.direct, time.Duration(0)
	if s.distant {
		kubeconfig, away = r.distant, latency // the first request is sent that much before it arrives
	}
	process, err := r.startController(ctx, side, kubeconfig)
	if err != nil {
		return bench.Outcome{}, err
	}
	done, err := r.deleteAll(ctx, names, s.filled)
	figures := map[string]float64{
		"s": (done.took() + away).Seconds(), "ms": (done.took() + away).Seconds() * 1000,
		"requests": float64(done.requests),
	}
	if err == nil && s.rests {
		figures["resident MiB"], err = r.idleMemory(ctx, process, effort)
	}
	process.Stop(context.Background())
	proof := fmt.Sprintf("%d namespaces deleted with their content; nothing else changed", len(names))
	return bench.Outcome{Figures: figures, Proof: proof}, errors.Join(err, process.Err())
}

// names returns n unused names.
func (r *cluster) names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("bench-%03d-%03d", r.runs, i)
	}
	return names
}

// deleteAll creates namespaces, has the controller delete them, and returns its work. It fails if
// anything is left or anything else has changed.
func (r *cluster) deleteAll(ctx context.Context, names []string, filled bool) (work, error) {
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
func (r *cluster) auditedUntilFinalized(ctx context.Context, names []string) (requests []e2e.Request, err error) {
	waiting := map[string]bool{}
	for _, name := range names {
		waiting[name] = true
	}
	err = poll(ctx, "the last answer to be in the audit log", pollInterval, func() (bool, error) {
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
func (r *cluster) idleMemory(
	ctx context.Context, process *controlplane.Process, effort bench.Effort,
) (residentMiB float64, err error) {
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
