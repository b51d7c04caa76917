package dispatchbench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"orrery/internal/bench"
	"orrery/internal/bench/histogram"
)

// idlePause is long enough for every goroutine on the way, and every thread, to fall asleep.
const idlePause = 500 * time.Microsecond

// idleScenario sends single events into an informer in which everybody sleeps: one handler, 10,000 objects, half a
// millisecond between an event and the next. The figure is the time from just before the watch hands the event out until
// the handler is called, at the 50th and at the 99th percentile.
func idleScenario(subject Subject) bench.Scenario {
	return bench.Scenario{Name: "dispatch/idle", Run: func(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
		cfg := Config{Handlers: 1, Objects: effort.Of(10_000, 2_500)}.withDefaults()
		n := effort.Of(1500, 300)
		began := time.Now()
		called := make(chan time.Duration, 1)
		w, err := newWorld(subject, cfg, newRound(cfg), 1, func(_ int, w *witness) {
			w.observe = func(int) { called <- time.Since(began) }
		})
		if err != nil {
			return bench.Outcome{}, err
		}
		defer w.informer.Stop()
		runtime.GC()

		meter.Begin("single events", "events", 0, int64(n))
		var latencies histogram.Histogram
		var total time.Duration
		for range n {
			time.Sleep(idlePause)
			sent := time.Since(began)
			w.send()
			select {
			case at := <-called:
				latencies.Record(at - sent)
				total += at - sent
			case <-ctx.Done():
				return bench.Outcome{}, ctx.Err()
			}
			meter.Count(1)
		}
		if err := w.settle(ctx); err != nil {
			return bench.Outcome{}, err
		}
		if err := w.verify(); err != nil {
			return bench.Outcome{}, err
		}
		return bench.Outcome{
			Figures: map[string]float64{
				"p50":  float64(latencies.Quantile(0.5)),
				"p99":  float64(latencies.Quantile(0.99)),
				"mean": float64(total) / float64(n),
			},
			Proof: fmt.Sprintf("%d updates, one at a time, told in order; %d objects in the store as they were sent last", n, len(w.script.keys)),
		}, nil
	}}
}
