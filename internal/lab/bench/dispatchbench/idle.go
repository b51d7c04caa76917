package dispatchbench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"orrery/internal/lab/bench"
)

// idlePause is long enough for every goroutine on the way, and every thread, to fall asleep.
const idlePause = 500 * time.Microsecond

// idleScenario sends single events into an informer that has nothing else to do: one handler, 10,000 objects, each event
// when the handler has been told of the one before. The figure is the time from just before the watch hands the event out
// until the handler is called, at the 50th and at the 99th percentile. The processor is awake then. The figures "asleep"
// are the same with half a millisecond between an event and the next, in which every thread falls asleep: waking one
// takes the operating system longer than all the rest, and it is the same for both sides.
func idleScenario(subject Subject) bench.Scenario {
	return bench.Scenario{Name: "dispatch/idle", Run: func(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
		cfg := Config{Handlers: 1, Objects: effort.Of(10_000, 2_500), Kind: Heads}
		idle := &idle{began: time.Now(), called: make(chan time.Duration, 1)}
		w, err := newWorld(subject, cfg, newRound(cfg), 1, func(_ int, w *witness) { w.observe = idle.observe })
		if err != nil {
			return bench.Outcome{}, err
		}
		defer w.informer.Stop()
		idle.world = w
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		defer context.AfterFunc(ctx, idle.giveUp)()

		awake, asleep := effort.Of(100_000, 20_000), effort.Of(1000, 200)
		meter.Begin("single events", "events", 0, int64(awake+asleep))
		if err := idle.measure(ctx, awake/10, 0, &bench.Histogram{}, meter); err != nil {
			return bench.Outcome{}, err
		}
		runtime.GC()
		var quick, slow bench.Histogram
		if err := idle.measure(ctx, awake, 0, &quick, meter); err != nil {
			return bench.Outcome{}, err
		}
		if err := idle.measure(ctx, asleep, idlePause, &slow, meter); err != nil {
			return bench.Outcome{}, err
		}
		if err := w.settle(ctx); err != nil {
			return bench.Outcome{}, err
		}
		if err := w.verify(); err != nil {
			return bench.Outcome{}, err
		}
		return bench.Outcome{
			Figures: map[string]float64{
				"p50":        float64(quick.Quantile(0.5)),
				"p99":        float64(quick.Quantile(0.99)),
				"mean":       float64(quick.Mean()),
				"asleep p50": float64(slow.Quantile(0.5)),
				"asleep p99": float64(slow.Quantile(0.99)),
			},
			Proof: fmt.Sprintf("%d updates, one at a time, told in order; %d objects in the store as they were sent last", w.sent, len(w.script.keys)),
		}, nil
	}}
}

// idle measures one event at a time.
type idle struct {
	world  *world
	began  time.Time
	called chan time.Duration // when the handler was, since began
}

func (d *idle) observe(event int) {
	if event < d.world.script.laps {
		d.called <- time.Since(d.began)
	}
}

// giveUp ends the waiting for a handler.
func (d *idle) giveUp() {
	select {
	case d.called <- gaveUp:
	default: // the handler was faster
	}
}

// gaveUp is no time.
const gaveUp = -1

// measure sends n events, each after the pause, and records how long they took. It waits for one channel only, because
// to choose between two would take time that counts.
func (d *idle) measure(ctx context.Context, n int, pause time.Duration, latencies *bench.Histogram, meter *bench.Meter) error {
	for i := range n {
		if pause > 0 {
			time.Sleep(pause)
		}
		sent := time.Since(d.began)
		d.world.send()
		at := <-d.called
		if at == gaveUp {
			return ctx.Err()
		}
		latencies.Record(at - sent)
		if i%100 == 99 {
			meter.Count(100)
		}
	}
	return nil
}
