package dispatchbench

import (
	"context"
	"fmt"
	"runtime"

	"orrery/internal/lab/bench"
)

// Scenarios returns the fixed pieces of work of the comparison. For this project's fast gears they
// include the variants of these with 1 and with 16 handlers: "dispatch/design-bounded-16".
func Scenarios(subject Subject) []bench.Scenario {
	coalescing := subject
	isFast := subject == Orrery(Fast)
	if isFast {
		coalescing = Orrery(Coalescing)
	}
	all := []bench.Scenario{
		dispatchScenario("dispatch/1", subject, 1, !subject.Merges()),
		dispatchScenario("dispatch/4", subject, 4, !subject.Merges()),
		dispatchScenario("dispatch/16", subject, 16, !subject.Merges()),
		idleScenario(subject),
		stalledScenario("dispatch/stalled-default", subject, Pods, everyUpdate),
		stalledScenario("dispatch/stalled-coalescing", coalescing, Pods, finalState),
		stalledScenario("dispatch/stalled-default-metadata", subject, Heads, everyUpdate),
		stalledScenario("dispatch/stalled-coalescing-metadata", coalescing, Heads, finalState),
	}
	if isFast {
		for _, design := range []Design{Coalescing, Bounded} {
			for _, handlers := range []int{1, 16} {
				name := fmt.Sprintf("dispatch/design-%s-%d", design, handlers)
				all = append(all, dispatchScenario(name, Orrery(design), handlers, false))
			}
		}
	}
	return all
}

// dispatchScenario sends updates of 10,000 objects in turn, as fast as the informer takes them, and
// waits until all are delivered to every handler; a figure covers the whole way from the watch to
// all handlers. The events are heads of pods, two states of each, made beforehand and sent in laps.
// The fake watch is a channel with room for everything, on both sides.
//
// If counted is true, handlers only count updates during the measurement, and check every update
// before and after. Merged events cannot be counted, so in comparisons of designs all handlers
// check everything.
func dispatchScenario(name string, subject Subject, handlers int, counted bool) bench.Scenario {
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
		if counted {
			w.count(n)
		}
		usage := bench.Measure(func() {
			w.play(n)
			err = w.drain(ctx)
		})
		meter.Count(n)
		if err == nil && counted {
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
			Proof: proof(subject, w),
		}, nil
	}}
}

// proof describes the check of world.verify.
func proof(subject Subject, w *world) string {
	how := fmt.Sprintf("%d updates delivered to each of %s in order", w.sent, plural(len(w.witnesses), "handler"))
	if subject.Merges() {
		how = fmt.Sprintf("the state after %d updates delivered to each of %s", w.sent, plural(len(w.witnesses), "handler"))
	}
	return fmt.Sprintf("%s; %d objects in the store in their latest state", how, len(w.script.keys))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
