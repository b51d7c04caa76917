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

// Run measures a subject with the parameters that somebody chose: first as many events as it takes, for throughput,
// allocations and memory; then events at a rate, for latencies. A latency is the time from when an event was due until
// a handler was called with it; of events that were merged into one it is that of the oldest. Every handler counts.
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

	usage    bench.Usage // of the saturated phase
	measured int         // events in it
	told     int         // callbacks in it
	peak     uint64      // bytes of heap in it
	before   uint64      // bytes of live heap before it
	rate     float64     // of the paced phase
	paced    int         // events in it
}

// buffer is how many events the watch holds that the subject has not taken.
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

// The events of a lap are in memory all the time: a lap is as long as fits into a few hundred megabytes, but longer than
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

// lead is how many events the slowest handler may be behind while the subject is saturated. Without a bound the memory of
// a run would grow with its duration, and its end would be far away. Designs that merge have a bound of their own.
func (r *run) lead() int64 {
	const most, least, worth = 4096, 16, 50 * time.Millisecond
	if r.HandlerCost <= 0 {
		return most
	}
	return max(min(most, int64(worth/r.HandlerCost)), least)
}

// saturate sends as fast as the handlers can take it, and one batch in any case.
func (r *run) saturate(ctx context.Context) error {
	r.warmUp(ctx)
	if err := r.world.settle(ctx); err != nil {
		return err
	}
	r.before = bench.LiveHeap()
	sent, told := r.world.sent, r.callbacks()
	memory := bench.WatchMemory()
	r.meter.Begin("as fast as it goes", "events", r.Duration, 0)
	var err error
	r.usage = bench.Measure(func() {
		for began := time.Now(); ctx.Err() == nil; {
			r.batch()
			if time.Since(began) >= r.Duration {
				break
			}
		}
		err = r.world.settle(ctx)
	})
	r.peak = memory.Stop()
	if err != nil {
		return err
	}
	r.measured, r.told = r.world.sent-sent, r.callbacks()-told
	return r.world.verify()
}

// warmUp lets the store and the buffers get their size.
func (r *run) warmUp(ctx context.Context) {
	for began := time.Now(); time.Since(began) < r.Duration/10 && ctx.Err() == nil; {
		r.batch()
	}
}

// batch sends some events, and waits first if a handler is too far behind.
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

// pace sends each event when it is due, whatever became of the others.
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
	if err := r.world.settle(ctx); err != nil {
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
			{Name: "callbacks", Unit: bench.PerSecond, Value: float64(r.told) / r.usage.Elapsed.Seconds(), Better: bench.Higher},
			{Name: "CPU per event", Unit: bench.Nanoseconds, Value: each(float64(r.usage.CPU.Nanoseconds())), Better: bench.Lower},
			{Name: "allocations per event", Unit: bench.Count, Value: each(float64(r.usage.Allocs)), Better: bench.Lower},
			{Name: "allocated per event", Unit: bench.Bytes, Value: each(float64(r.usage.Bytes)), Better: bench.Lower},
			{Name: "peak memory", Unit: bench.Bytes, Value: float64(r.peak - min(r.peak, r.before)), Better: bench.Lower},
			{Name: "rate for latency", Unit: bench.PerSecond, Value: r.rate, Better: bench.Higher},
		},
		Proof: []string{r.proof("as fast as it goes", r.measured), r.proof("at a steady rate", r.paced)},
	}
}

func (r *run) proof(how string, events int) string {
	told := "told to " + plural(r.Handlers, "handler") + ", in order for each object"
	if r.subject.Merges() {
		told = "told to " + plural(r.Handlers, "handler") + " as a history that leads to the last state of each object"
	}
	return fmt.Sprintf("%d events %s, %s; the store equals what was sent", events, how, told)
}
