package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"orrery/internal/lab/bench"
	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

// The scenarios.
const (
	Hundred = "deletion/hundred"
	Empty   = "deletion/empty"
)

// deletion is a number of namespaces that are deleted at once.
type deletion struct {
	full, quick int  // namespaces, by effort
	filled      bool // with the content of a small application
	distant     bool // the controller is behind the proxy
	rests       bool // the controller's memory at rest is a figure
}

// deletions are all of them. Their figures are "s" and "ms", from the sending of the controller's
// first request after the grace period to the answer that removes the last namespace; "requests",
// all of the controller's from the deletion to that moment without its watches; and "resident MiB".
var deletions = map[string]deletion{
	Hundred: {full: 100, quick: 20, filled: true, rests: true},
	Empty:   {full: 1, quick: 1, distant: true},
}

// Run runs one side once, with a fresh controller process that has ended when Run returns.
func (r *cluster) Run(ctx context.Context, side Side, scenario string, effort bench.Effort) (bench.Outcome, error) {
	s, known := deletions[scenario]
	if !known || !slices.Contains([]Side{Ours, Theirs, Textbook}, side) {
		return bench.Outcome{}, fmt.Errorf("there is no scenario %s of %s", scenario, side)
	}
	r.runs++
	names, kubeconfig, away := []string(nil), r.direct, time.Duration(0)
	for i := range effort.Of(s.full, s.quick) {
		names = append(names, fmt.Sprintf("bench-%03d-%03d", r.runs, i))
	}
	if s.distant {
		kubeconfig, away = r.distant, latency // the first request is sent that much before it arrives
	}
	process, err := r.startController(ctx, side, kubeconfig)
	if err != nil {
		return bench.Outcome{}, fmt.Errorf("%s by %s: %w", scenario, side, err)
	}
	done, err := r.deleteAll(ctx, names, s.filled)
	took := (done.took() + away).Seconds()
	figures := map[string]float64{"s": took, "ms": took * 1000, "requests": float64(done.requests)}
	if err == nil && s.rests {
		figures["resident MiB"], err = idleMemory(ctx, process, effort)
	}
	process.Stop(context.Background())
	if err := errors.Join(err, process.Err(), r.cp.Err(), ctx.Err()); err != nil {
		return bench.Outcome{}, fmt.Errorf("%s by %s: %w", scenario, side, err)
	}
	proof := fmt.Sprintf("%d namespaces deleted with their content; nothing else changed", len(names))
	return bench.Outcome{Figures: figures, Proof: proof}, nil
}

// deleteAll creates namespaces, has the controller delete them, and returns its work. It fails if
// anything is left or anything else has changed.
func (r *cluster) deleteAll(ctx context.Context, names []string, filled bool) (work, error) {
	before, err := r.inventory(ctx)
	if err != nil {
		return work{}, err
	}
	if err := errors.Join(r.create(ctx, names, filled), r.audit.Skip()); err != nil {
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
	waiting := sets.New(names...)
	err = poll(ctx, "the last answer to be in the audit log", func() (bool, error) {
		more, err := r.audit.Read()
		for _, r := range more {
			if r.Finalizes() {
				waiting.Delete(r.ObjectRef.Name)
			}
		}
		requests = append(requests, more...)
		return len(waiting) == 0, err
	})
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", err, sets.List(waiting))
	}
	return requests, nil
}

// idleMemory waits until a process has been idle for some time and returns its resident memory in
// MiB.
func idleMemory(ctx context.Context, process *controlplane.Process, effort bench.Effort) (float64, error) {
	rest := time.NewTimer(time.Duration(effort.Of(10, 5)) * time.Second)
	defer rest.Stop()
	select {
	case <-process.Done():
		return 0, process.Err()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-rest.C:
	}
	now, _ := bench.ResidentMemoryOf(process.PID())
	if now == 0 {
		return 0, fmt.Errorf("process %d has no VmRSS: it has ended, or there is no /proc", process.PID())
	}
	return float64(now) / (1 << 20), nil
}

// work is what the audit log of kube-apiserver says of one controller: its requests, without
// watches, from the deletion of the namespaces until the last of them has gone.
type work struct {
	requests    int
	first, last time.Time // arrival of the first request, and the answer that ended the last namespace
}

// workSince sums up the requests from a moment until the answer that ended the last namespace.
// Later requests, such as those that write Events, may not be in the log yet.
func workSince(moment time.Time, requests []e2e.Request) work {
	var w work
	for _, r := range requests {
		if r.Finalizes() && r.RequestReceivedTimestamp.After(moment) && r.StageTimestamp.After(w.last) {
			w.last = r.StageTimestamp
		}
	}
	for _, r := range requests {
		arrived := r.RequestReceivedTimestamp
		if r.Verb == "watch" || r.Stage != "ResponseComplete" || !arrived.After(moment) || arrived.After(w.last) {
			continue
		}
		w.requests++
		if w.first.IsZero() || arrived.Before(w.first) {
			w.first = arrived
		}
	}
	return w
}

// took returns the time from the first request to the last answer.
func (w work) took() time.Duration { return w.last.Sub(w.first) }
