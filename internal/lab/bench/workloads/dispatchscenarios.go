package workloads

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"orrery/internal/lab/bench"
)

// DispatchScenarios returns the fixed pieces of work of the comparison, which
// upstream/bench/compare/texts describes.
func DispatchScenarios(subject DispatchSubject) []bench.Scenario {
	coalescing := subject
	if subject == Dispatch(DesignFast) {
		coalescing = Dispatch(DesignCoalescing)
	}
	return []bench.Scenario{
		dispatchScenario("dispatch/1", subject, 1),
		dispatchScenario("dispatch/16", subject, 16),
		{Name: "dispatch/idle", Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
			return idle(ctx, subject, effort)
		}},
		stalledScenario("dispatch/stalled-default", subject),
		stalledScenario("dispatch/stalled-coalescing", coalescing),
	}
}

// dispatchScenario sends updates of all objects in turn, as fast as the informer takes them, and
// waits until all are delivered to every handler. Handlers only count updates during the
// measurement, and check every update before and after.
func dispatchScenario(name string, subject DispatchSubject, handlers int) bench.Scenario {
	return bench.Scenario{Name: name, Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
		cfg := DispatchConfig{Handlers: handlers, Objects: effort.Of(10_000, 2_500)}
		n := effort.Of(300_000, 50_000) * 4 / (handlers + 3) // with more handlers an event costs more

		w, err := newWorld(subject.New(), subject.Merges(), cfg, n, nil)
		if err != nil {
			return bench.Outcome{}, err
		}
		defer w.informer.Stop()
		w.play(n / 10)
		if err := w.drain(ctx); err != nil {
			return bench.Outcome{}, err
		}
		runtime.GC()

		w.count(n)
		usage := bench.Measure(func() {
			w.play(n)
			err = w.drain(ctx)
		})
		if err == nil {
			w.resume()
			w.play(2 * cfg.Objects) // checks each object again
			err = w.drain(ctx)
		}
		if err == nil {
			err = w.verify()
		}
		if err != nil {
			return bench.Outcome{}, err
		}
		return bench.Outcome{
			Figures: map[string]float64{
				"ns/event":     float64(usage.Elapsed.Nanoseconds()) / float64(n),
				"allocs/event": float64(usage.Allocs) / float64(n),
			},
			Proof: fmt.Sprintf("%d updates delivered to each handler (%d) in order; %d objects in the store "+
				"in their latest state", w.sent, handlers, len(w.names)),
		}, nil
	}}
}

// idle sends single events into an otherwise idle informer: each after the handler was called with
// the previous one. It receives from a single channel, because a select would add to the measured
// time: the comparison ends a process whose informer has lost an event.
func idle(ctx context.Context, subject DispatchSubject, effort bench.Effort) (bench.Outcome, error) {
	cfg := DispatchConfig{Handlers: 1, Objects: effort.Of(10_000, 2_500)}
	began, called := time.Now(), make(chan time.Duration, 1)
	w, err := newWorld(subject.New(), subject.Merges(), cfg, 1,
		func(w *witness) { w.observe = func() { called <- time.Since(began) } })
	if err != nil {
		return bench.Outcome{}, err
	}
	defer w.informer.Stop()
	measure := func(n int) (latencies bench.Histogram) {
		for i := 0; i < n && ctx.Err() == nil; i++ {
			sent := time.Since(began)
			w.play(1)
			latencies.Record(<-called - sent)
		}
		return latencies
	}
	n := effort.Of(100_000, 20_000)
	measure(n / 10) // warm-up
	runtime.GC()
	latencies := measure(n)
	if err := w.drain(ctx); err != nil {
		return bench.Outcome{}, err
	}
	return bench.Outcome{
		Figures: map[string]float64{"p50": float64(latencies.Quantile(0.5))},
		Proof: fmt.Sprintf("%d updates, one at a time, delivered in order; "+
			"%d objects in the store in their latest state", w.sent, len(w.names)),
	}, w.verify()
}

// stalledScenario sends updates of one object to two handlers. One of them hangs in its first
// callback until the other has all updates; then the live heap of the process is measured.
// Afterwards the stalled handler processes its backlog and must receive what the subject promises:
// the final state by a consistent history if it merges events, else all updates.
func stalledScenario(name string, subject DispatchSubject) bench.Scenario {
	return bench.Scenario{Name: name, Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
		n := effort.Of(100_000, 20_000)
		hang := make(chan struct{})
		release := sync.OnceFunc(func() { close(hang) })
		work := func() { <-hang }
		w, err := newWorld(subject.New(), subject.Merges(), DispatchConfig{Handlers: 2, Objects: 1}, watchBuffer,
			func(handler *witness) {
				handler.work, work = work, nil // the first handler's
			})
		if err != nil {
			return bench.Outcome{}, err
		}
		defer w.informer.Stop()
		defer release()
		stalled, healthy := w.witnesses[0], w.witnesses[1]
		w.once = make([]onceEvent, n)

		for i := 0; i < n && ctx.Err() == nil; i++ {
			state, err := w.informer.Decode(w.document(0, w.stateCount()+i))
			if err != nil {
				return bench.Outcome{}, err
			}
			w.sendOnce(i, 0, state)
		}
		w.send(w.mark())
		if err := await(ctx, healthy.marked); err != nil {
			return bench.Outcome{}, err
		}
		live := bench.LiveHeap()

		release()
		if err := await(ctx, stalled.marked); err != nil {
			return bench.Outcome{}, err
		}
		if err := w.verify(); err != nil {
			return bench.Outcome{}, err
		}
		const mib = 1 << 20
		delivered := "all of them, in order, each from the one before"
		if subject.Merges() {
			delivered = "their final state"
		}
		return bench.Outcome{
			Figures: map[string]float64{"live MiB": float64(live) / mib},
			Proof: fmt.Sprintf("%d updates of one object; a handler that hung received %s, and so did one that did not",
				n, delivered),
		}, nil
	}}
}

// podDocument is a small pod as a server sends it: name, namespace and version.
const podDocument = `{
	"apiVersion": "v1",
	"kind": "Pod",
	"metadata": {
		"name": "%s",
		"generateName": "web-7c5ddbdf54-",
		"namespace": "%s",
		"uid": "0f9d2c34-5a1b-4c1e-9d55-20b9bbf1a0e1",
		"resourceVersion": "%s",
		"creationTimestamp": "2026-01-02T03:04:05Z",
		"labels": {"app": "web", "pod-template-hash": "7c5ddbdf54"},
		"ownerReferences": [{
			"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7c5ddbdf54",
			"uid": "9a1f4f0e-7b0e-4c8f-8a51-63a0f5f2d0aa", "controller": true, "blockOwnerDeletion": true
		}]
	},
	"spec": {
		"nodeName": "node-017",
		"restartPolicy": "Always",
		"serviceAccountName": "default",
		"terminationGracePeriodSeconds": 30,
		"containers": [{"name": "web", "image": "registry.example/web:1.17.3"}]
	},
	"status": {"phase": "Running", "podIP": "10.0.17.4", "startTime": "2026-01-02T03:04:07Z"}
}`
