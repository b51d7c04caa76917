// Package dispatchbench measures the way of an event through an informer, from the watch to the
// handlers. Only the watch is a fake: a Go channel, because client-go takes events from nothing
// else. The reflector, the queue, the store and the delivery to the handlers are the subject's. The
// events are made beforehand and sent in laps. Each has a version of its own, from which a
// [Handler] knows the event, its predecessor, and when it was due. A run without an error was
// checked by every handler: all events, in order for each object, each update from the state
// delivered before. If the subject merges events ([Subject].Merges), the history must be consistent
// and end in the final state, deletions included. Afterwards the store must hold the final state of
// the script. Anything lost, repeated, swapped or corrupted is a [*bench.ProofError].
package dispatchbench

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// Run measures a subject with the given parameters: first as many events as possible, for
// throughput and allocations; then events at a fixed rate, for latencies. A latency is the
// time from when an event was due until a handler was called with it, or with the event that it was
// merged into. Every handler counts.
func Run(ctx context.Context, subject Subject, cfg *Config, meter *bench.Meter) (*bench.Result, error) {
	r := &run{Config: *cfg, subject: subject, meter: meter, clocks: make([]clock, cfg.Handlers)}
	meter.Begin("preparing events", "events", 0, 0)
	if err := r.prepare(); err != nil {
		return nil, err
	}
	defer r.world.informer.Stop()

	if err := r.saturate(ctx); err != nil {
		return nil, err
	}
	if err := r.pace(ctx); err != nil {
		return nil, err
	}
	return r.result(), nil
}

// run is one run of the two phases.
type run struct {
	Config
	subject Subject
	meter   *bench.Meter
	world   *world
	clocks  []clock // by handler

	usage     bench.Usage // of the saturated phase
	measured  int         // its events
	delivered int         // its callbacks
	rate      float64     // of the paced phase
	paced     int         // its events
}

// buffer is the number of events that the watch holds for the subject.
const buffer = 1024

func (r *run) prepare() (err error) {
	s := newScript(r.Config, r.lap())
	cost := load.NewCost(r.HandlerCost)
	r.world, err = newWorld(r.subject, r.Config, s, buffer, func(handler int, w *witness) {
		c := &r.clocks[handler]
		c.witness, c.laps = w, make([]int32, len(s.keys))
		w.observe = c.observe
		if r.HandlerCost > 0 {
			w.work = cost.Spend
		}
	})
	return err
}

// The events of a lap stay in memory. A lap fits into a few hundred megabytes and is longer than
// any subject falls behind.
const (
	longestLap  = 1 << 16
	shortestLap = 1 << 13
	lapMemory   = 256 << 20
	fastest     = 1e5 // events a second, roughly, that would make a lap of a phase
)

func (r *run) lap() int {
	lap := min(longestLap, lapMemory/(r.ObjectSize+emptyObject), int(r.Duration.Seconds()*fastest))
	return max(lap, shortestLap)
}

// lead is the number of events that the slowest handler may be behind in the saturated phase.
// Without a bound, memory would grow with the duration of the run. Designs that merge events have a
// bound of their own.
func (r *run) lead() int64 {
	const most, least, worth = 4096, 16, 50 * time.Millisecond
	if r.HandlerCost <= 0 {
		return most
	}
	return max(min(most, int64(worth/r.HandlerCost)), least)
}

// saturate sends as fast as the handlers keep up, and at least one batch.
func (r *run) saturate(ctx context.Context) error {
	r.warmUp(ctx)
	if err := r.world.drain(ctx); err != nil {
		return err
	}
	runtime.GC() // of the warm-up
	sent, delivered := r.world.sent, r.callbacks()
	r.meter.Begin("as fast as possible", "events", r.Duration, 0)
	var err error
	r.usage = bench.Measure(func() {
		for began := time.Now(); ctx.Err() == nil; {
			r.batch()
			if time.Since(began) >= r.Duration {
				break
			}
		}
		err = r.world.drain(ctx)
	})
	if err != nil {
		return err
	}
	r.measured, r.delivered = r.world.sent-sent, r.callbacks()-delivered
	return r.world.verify()
}

// warmUp lets the store and the buffers reach their size.
func (r *run) warmUp(ctx context.Context) {
	for began := time.Now(); time.Since(began) < r.Duration/10 && ctx.Err() == nil; {
		r.batch()
	}
}

// batch sends some events, after waiting for handlers that are too far behind.
func (r *run) batch() {
	lead := r.lead()
	n := int(min(lead, 64))
	for i := range r.clocks {
		for !r.subject.Merges() && int64(r.world.sent)-r.clocks[i].events.Load() > lead {
			runtime.Gosched()
			if r.HandlerCost > time.Microsecond {
				time.Sleep(min(r.HandlerCost, time.Millisecond))
			}
		}
	}
	r.world.play(n)
	r.meter.Count(n)
}

func (r *run) callbacks() (n int) {
	for _, w := range r.world.witnesses {
		n += w.events
	}
	return n
}

// pace sends each event when it is due, without waiting for earlier ones.
func (r *run) pace(ctx context.Context) error {
	r.rate = r.RateOr(r.measured, r.usage.Elapsed)
	r.paced = max(1, int(r.rate*r.Duration.Seconds()))
	r.meter.Begin(fmt.Sprintf("%.0f events a second", r.rate), "events", r.Duration, int64(r.paced))
	start := time.Now()
	pacer := load.NewPacer(start, r.rate)
	var newest atomic.Int64
	newest.Store(int64(r.world.sent) - 1)
	for i := range r.clocks {
		r.clocks[i].start(start, pacer, r.world.sent, &newest)
	}
	const counted = 256
	for i := range r.paced {
		if _, ok := pacer.Wait(ctx, i); !ok {
			return ctx.Err()
		}
		newest.Store(int64(r.world.sent))
		r.world.send()
		if i%counted == counted-1 {
			r.meter.Count(counted)
		}
	}
	if err := r.world.drain(ctx); err != nil {
		return err
	}
	return r.world.verify()
}

func (r *run) result() *bench.Result {
	each := func(v float64) float64 { return v / float64(max(r.measured, 1)) }
	perSecond := each(float64(r.usage.Elapsed.Nanoseconds()))
	latency := &bench.Histogram{}
	for i := range r.clocks {
		latency.Merge(&r.clocks[i].latency)
	}
	return &bench.Result{
		Latency: latency,
		Figures: []bench.Figure{
			{Name: "events", Unit: bench.PerSecond, Value: 1e9 / perSecond, Better: bench.Higher},
			{Name: "callbacks", Unit: bench.PerSecond, Value: float64(r.delivered) / r.usage.Elapsed.Seconds(), Better: bench.Higher},
			{Name: "CPU per event", Unit: bench.Nanoseconds, Value: each(float64(r.usage.CPU.Nanoseconds())), Better: bench.Lower},
			{Name: "allocations per event", Unit: bench.Count, Value: each(float64(r.usage.Allocs)), Better: bench.Lower},
			{Name: "allocated per event", Unit: bench.Bytes, Value: each(float64(r.usage.Bytes)), Better: bench.Lower},
			{Name: "rate for latency", Unit: bench.PerSecond, Value: r.rate, Better: bench.Higher},
		},
		Proof: []string{r.proof("as fast as possible", r.measured), r.proof("at a steady rate", r.paced)},
	}
}

func (r *run) proof(how string, events int) string {
	order := "delivered to " + plural(r.Handlers, "handler") + ", in order for each object"
	if r.subject.Merges() {
		order = "delivered to " + plural(r.Handlers, "handler") + " as a history that leads to the last state of each object"
	}
	return fmt.Sprintf("%d events %s, %s; the store equals what was sent", events, how, order)
}
