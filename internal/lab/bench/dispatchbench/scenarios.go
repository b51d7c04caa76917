package dispatchbench

import (
	"context"
	"fmt"
	"runtime"

	"orrery/internal/lab/bench"
)

// Scenarios returns the fixed pieces of work of the comparison.
func Scenarios(subject Subject) []bench.Scenario {
	coalescing := subject
	if subject == Orrery(Fast) {
		coalescing = Orrery(Coalescing)
	}
	return []bench.Scenario{
		dispatchScenario("dispatch/1", subject, 1),
		dispatchScenario("dispatch/4", subject, 4),
		dispatchScenario("dispatch/16", subject, 16),
		idleScenario(subject),
		stalledScenario("dispatch/stalled-default", subject, Pods, everyUpdate),
		stalledScenario("dispatch/stalled-coalescing", coalescing, Pods, finalState),
		stalledScenario("dispatch/stalled-default-metadata", subject, Heads, everyUpdate),
	}
}

// dispatchScenario sends updates of 10,000 objects in turn, as fast as the informer takes them, and
// waits until all are delivered to every handler; a figure covers the whole way from the watch to
// all handlers. The events are heads of pods, two states of each, made beforehand and sent in laps.
// The fake watch is a channel with room for everything, on both sides.
//
// Handlers only count updates during the measurement, and check every update before and after.
func dispatchScenario(name string, subject Subject, handlers int) bench.Scenario {
	return bench.Scenario{Name: name, Run: func(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
		cfg := Config{Handlers: handlers, Objects: effort.Of(10_000, 2_500), Kind: Heads}
		s := newRound(cfg)
		n := effort.Of(300_000, 50_000) * 4 / (handlers + 3) // with more handlers an event costs more

		meter.Begin("making "+fmt.Sprint(len(s.events))+" states", "states", 0, 0)
		w, err := newWorld(subject, cfg, s, n, nil)
		if err != nil {
			return bench.Outcome{}, err
		}
		defer w.informer.Stop()
		w.play(n / 10)
		if err := w.drain(ctx); err != nil {
			return bench.Outcome{}, err
		}
		runtime.GC()

		meter.Begin("updates for "+plural(handlers, "handler"), "events", 0, int64(n))
		w.count(n)
		usage := bench.Measure(func() {
			w.play(n)
			err = w.drain(ctx)
		})
		meter.Count(n)
		if err == nil {
			w.resume()
			w.play(s.laps) // checks each object again
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
				"cpu ns/event": float64(usage.CPU.Nanoseconds()) / float64(n),
				"allocs/event": float64(usage.Allocs) / float64(n),
				"B/event":      float64(usage.Bytes) / float64(n),
			},
			Proof: fmt.Sprintf("%d updates delivered to each of %s in order; %d objects in the store "+
				"in their latest state", w.sent, plural(handlers, "handler"), len(w.script.keys)),
		}, nil
	}}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
