package dispatchbench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orrery/internal/lab/bench"
)

// stalledScenario sends 100,000 updates of one object to two handlers. One of them hangs in its
// first callback until the other has all updates; then the live heap of the process is measured.
// Each update is decoded from a document of its own. Afterwards the stalled handler processes its
// backlog and must receive what the subject promises: the final state by a consistent history if it
// merges events, else all updates.
func stalledScenario(name string, subject Subject, kind Kind) bench.Scenario {
	return bench.Scenario{Name: name, Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
		n := effort.Of(100_000, 20_000)
		hang := make(chan struct{})
		release := sync.OnceFunc(func() { close(hang) })
		work := func() { <-hang }
		w, err := newWorld(subject, Config{Handlers: 2, Objects: 1, Kind: kind}, 1024, func(handler *witness) {
			handler.work, work = work, nil // the first handler's
		})
		if err != nil {
			return bench.Outcome{}, err
		}
		defer w.informer.Stop()
		defer release()
		stalled, healthy := w.witnesses[0], w.witnesses[1]
		w.once = make([]event, n)
		base := bench.LiveHeap()

		began := time.Now()
		for i := 0; i < n && ctx.Err() == nil; i++ {
			id := w.names[0]
			id.ResourceVersion = version(w.stateCount() + i)
			state, err := w.informer.Decode(document(id, 0))
			if err != nil {
				return bench.Outcome{}, err
			}
			w.sendOnce(i, 0, state)
		}
		w.send(w.mark())
		if err := await(ctx, healthy.marked); err != nil {
			return bench.Outcome{}, err
		}
		elapsed := time.Since(began)
		live := bench.LiveHeap()

		release()
		if err := await(ctx, stalled.marked); err != nil {
			return bench.Outcome{}, err
		}
		if err := w.verify(); err != nil {
			return bench.Outcome{}, err
		}
		const mib = 1 << 20
		promised := "all of them, in order, each from the one before"
		if subject.Merges() {
			promised = "their final state"
		}
		return bench.Outcome{
			Figures: map[string]float64{
				"live MiB":   float64(live) / mib,
				"before MiB": float64(base) / mib,
				"B/update":   max(float64(live)-float64(base), 0) / float64(n),
				"s":          elapsed.Seconds(),
			},
			Proof: fmt.Sprintf("%d updates of one object; a handler that hung received %s, and so did one that did not", n, promised),
		}, nil
	}}
}
