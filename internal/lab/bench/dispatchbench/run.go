// Package dispatchbench measures the way of an event through an informer, from the watch to the
// handlers. Only the watch is a fake: a Go channel, because client-go takes events from nothing
// else. The reflector, the queue, the store and the delivery to the handlers are the subject's. A
// run without an error was checked by every handler: all events, in order for each object, each
// update from the state delivered before. If the subject merges events ([Subject].Merges), the
// history must be consistent and end in the final state, deletions included. Afterwards the store
// must hold the final state. Anything lost, repeated, swapped or corrupted is a
// [*bench.ProofError].
package dispatchbench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"orrery/internal/lab/bench"
)

// Run measures a subject with the given parameters. A latency is the time from when an event was
// due until a handler was called with it, or with the event that it was merged into. Every handler
// counts.
func Run(ctx context.Context, subject Subject, cfg *Config, meter *bench.Meter) (*bench.Result, error) {
	meter.Begin("preparing events", 0)
	cost := bench.NewCost(cfg.HandlerCost)
	w, err := newWorld(subject, *cfg, buffer, func(w *witness) {
		if cfg.HandlerCost > 0 {
			w.work = cost.Spend
		}
	})
	if err != nil {
		return nil, err
	}
	defer w.informer.Stop()
	r := &run{Config: *cfg, subject: subject, world: w, keys: bench.NewKeys(cfg.Objects, cfg.Distribution, cfg.Seed)}
	warmUp := bench.Load{Duration: cfg.Duration / 10}
	if err := r.phase(ctx, &bench.Phase{Driver: bench.Driver{Load: warmUp}}); err != nil {
		return nil, err // of the warm-up: the store and the buffers reach their size
	}
	runtime.GC()
	return bench.Driver{Load: cfg.Load, Meter: meter, Event: "event", Handled: "events", Phase: r.phase}.Run(ctx)
}

// run is one run.
type run struct {
	Config
	subject Subject
	world   *world
	keys    *bench.Keys
}

// buffer is the number of events that the watch holds for the subject.
const buffer = 1024

// phase sends the events of a phase and proves their delivery. As fast as possible, it sends the
// states that were made beforehand, and waits for handlers that are too far behind.
func (r *run) phase(ctx context.Context, p *bench.Phase) (err error) {
	w := r.world
	w.phase, w.once = p, make([]event, p.Events)
	lead, sent, delivered := r.lead(), w.sent, r.callbacks()
	p.Begin()
	p.Usage = bench.Measure(func() {
		err = p.Produce(ctx, 1, r.keys, func(_, event, object int) error {
			if p.Paced() {
				w.sendOnce(event, object, w.informer.As(w.states[object][0], version(w.stateCount()+event)))
				return nil
			}
			if int64(event)%min(lead, 64) == 0 {
				r.waitForHandlers(lead)
			}
			w.send(object)
			return nil
		})
		if err == nil {
			err = w.drain(ctx)
		}
	})
	if err == nil {
		err = w.verify()
	}
	if err != nil {
		return err
	}
	p.Done = w.sent - sent
	for _, witness := range w.witnesses {
		p.Latency.Merge(&witness.latency)
	}
	callbacks := float64(r.callbacks()-delivered) / p.Usage.Elapsed.Seconds()
	p.More = []bench.Figure{{Name: "callbacks", Unit: bench.PerSecond, Value: callbacks, Better: bench.Higher}}
	order := "in order for each object"
	if r.subject.Merges() {
		order = "as a history that leads to the last state of each object"
	}
	p.Proof = fmt.Sprintf("%d events delivered to each handler (%d), %s; the store equals what was sent",
		p.Done, r.Handlers, order)
	return nil
}

// lead is the number of events that the slowest handler may be behind. Without a bound, memory
// would grow with the duration of the run. Designs that merge events have a bound of their own.
func (r *run) lead() int64 {
	const most, least, worth = 4096, 16, 50 * time.Millisecond
	if r.HandlerCost <= 0 {
		return most
	}
	return max(min(most, int64(worth/r.HandlerCost)), least)
}

// waitForHandlers waits for handlers that are too far behind.
func (r *run) waitForHandlers(lead int64) {
	for _, witness := range r.world.witnesses {
		for !r.subject.Merges() && int64(r.world.sent)-witness.seen.Load() > lead {
			runtime.Gosched()
			if r.HandlerCost > time.Microsecond {
				time.Sleep(min(r.HandlerCost, time.Millisecond))
			}
		}
	}
}

func (r *run) callbacks() (n int) {
	for _, w := range r.world.witnesses {
		n += w.events
	}
	return n
}
