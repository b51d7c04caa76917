// Package fifobench measures queues of object changes: throughput, waiting time, and how long a
// relist blocks other callers. One goroutine pops, as an informer's loop does; one or more add, as
// a reflector does. The driver is the same for all queues; a [Gear] describes the queue and its
// objects. [Run] is one run with the flags of "lab bench fifo": first as fast as possible, then at
// a fixed rate for the latency. [Scenarios] are the fixed pieces of work of the comparison. A run
// has figures only if every event was handed out once; otherwise it returns a [*bench.ProofError].
// Objects are made before the clock starts, except in the paced part, where each event brings a new
// object, as from a watch.
package fifobench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

func (s subject[T]) run(ctx context.Context, cfg Config, meter *bench.Meter) (*bench.Result, error) {
	r := runner[T]{
		gear: s.gear, cfg: cfg, meter: meter,
		keys: load.NewKeys(cfg.Keys, cfg.Distribution, cfg.Seed),
		pods: load.MakePods(cfg.Keys, min(cfg.Keys, 100)),
	}
	for i := range r.pods {
		r.pods[i].Payload = cfg.ObjectSize
	}
	fast, err := r.saturated(ctx, s.objects(r.pods))
	if err != nil {
		return nil, err
	}
	r.cfg.Rate = cfg.RateOr(fast.events, fast.usage.Elapsed)
	latency, events, err := r.paced(ctx)
	if err != nil {
		return nil, err
	}
	return &bench.Result{
		Figures: append(fast.figures(), bench.Figure{Name: "rate for latency", Unit: bench.PerSecond, Value: r.cfg.Rate, Better: bench.Higher}),
		Latency: latency,
		Proof: []string{
			fmt.Sprintf("%d events added as fast as possible, each handed out once under its key", fast.events),
			fmt.Sprintf("%d events added at %.0f a second, each handed out once", events, r.cfg.Rate),
		},
	}, nil
}

// runner is one run of "lab bench fifo".
type runner[T any] struct {
	gear  Gear[T]
	cfg   Config
	meter *bench.Meter
	keys  *load.Keys
	pods  []load.Pod
}

// saturation is the result of the first part of a run.
type saturation struct {
	events, turns int
	usage         bench.Usage
}

func (s saturation) figures() []bench.Figure {
	perEvent := s.usage.PerOp(max(s.events, 1))
	return []bench.Figure{
		{Name: "events", Unit: bench.PerSecond, Value: float64(s.events) / s.usage.Elapsed.Seconds(), Better: bench.Higher},
		{Name: "time per event", Unit: bench.Nanoseconds, Value: perEvent["ns/op"], Better: bench.Lower},
		{Name: "allocations per event", Unit: bench.Count, Value: perEvent["allocs/op"], Better: bench.Lower},
		{Name: "bytes per event", Unit: bench.Bytes, Value: perEvent["B/op"], Better: bench.Lower},
		{Name: "turns", Unit: bench.PerSecond, Value: float64(s.turns) / s.usage.Elapsed.Seconds(), Better: bench.Higher},
	}
}

// saturated adds as fast as possible, with a bounded backlog.
func (r *runner[T]) saturated(ctx context.Context, objects []T) (saturation, error) {
	queue, err := r.gear.NewQueue(nil)
	if err != nil {
		return saturation{}, err
	}
	popped := make([]int, len(objects))
	unknown := 0
	c := consume(queue, func(obj T, _ bool) {
		if n := r.gear.Number(obj); n >= 0 && n < int64(len(popped)) {
			popped[n]++
		} else {
			unknown++
		}
	})

	r.meter.Begin("as fast as possible", "events", r.cfg.Duration, 0)
	var added []int
	usage := bench.Measure(func() {
		added, err = r.addFor(ctx, c, objects)
		if finished := c.finish(); err == nil {
			err = finished
		}
	})
	result := saturation{turns: c.turns, usage: usage}
	if err != nil {
		return result, err
	}
	if err := bench.Prove("objects handed out but never added", 0, unknown); err != nil {
		return result, err
	}
	for i := range added {
		if err := bench.Prove("events of "+r.pods[i].Key(), added[i], popped[i]); err != nil {
			return result, err
		}
		result.events += added[i]
	}
	return result, nil
}

// addFor runs the producers for the duration and returns how often each object was added.
func (r *runner[T]) addFor(ctx context.Context, c *consumer[T], objects []T) (added []int, err error) {
	timed, cancel := context.WithTimeout(ctx, r.cfg.Duration)
	defer cancel()
	byProducer := make([]producer[T], r.cfg.Producers)
	var producing sync.WaitGroup
	for i := range byProducer {
		p := &byProducer[i]
		p.counts = make([]int, len(objects))
		p.backlog = int64(max(r.cfg.Backlog/r.cfg.Producers, 1))
		p.share = int64(r.cfg.Producers)
		producing.Go(func() { p.err = p.add(timed, c, objects, r.keys.Picker(i), r.meter) })
	}
	producing.Wait()

	added = make([]int, len(objects))
	for i := range byProducer {
		for key, n := range byProducer[i].counts {
			added[key] += n
		}
		if err == nil {
			err = byProducer[i].err
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return added, err
}

// paced adds at a fixed rate without waiting for the queue, and measures from when an event was due
// until it was handed out.
func (r *runner[T]) paced(ctx context.Context) (*bench.Histogram, int, error) {
	queue, err := r.gear.NewQueue(nil)
	if err != nil {
		return nil, 0, err
	}
	events := max(int(r.cfg.Rate*r.cfg.Duration.Seconds()), 1)
	seen := make([]bool, events)
	latency := &bench.Histogram{}
	r.meter.Begin(fmt.Sprintf("%.0f events a second", r.cfg.Rate), "events", r.cfg.Duration, int64(events))
	start := time.Now()
	pacer := load.NewPacer(start, r.cfg.Rate)
	var wrong error
	c := consume(queue, func(obj T, _ bool) {
		number := int(r.gear.Number(obj))
		if number < 0 || number >= events || seen[number] {
			wrong = &bench.ProofError{What: "events handed out once", Want: "each", Got: number}
			return
		}
		seen[number] = true
		latency.Record(time.Since(start) - pacer.Due(number))
	})
	err = r.addPaced(ctx, queue, pacer, events)
	for _, e := range []error{c.finish(), wrong} {
		if err == nil {
			err = e
		}
	}
	if err == nil {
		err = bench.Prove("events handed out", uint64(events), latency.Count())
	}
	return latency, events, err
}

func (r *runner[T]) addPaced(ctx context.Context, queue Queue[T], pacer *load.Pacer, events int) error {
	errs := make([]error, r.cfg.Producers)
	var producing sync.WaitGroup
	for p := range r.cfg.Producers {
		producing.Go(func() {
			picker := r.keys.Picker(p)
			for i := p; i < events && errs[p] == nil; i += r.cfg.Producers {
				obj := r.gear.NewObject(r.pods[picker.Next()].As(int64(i)))
				if _, ok := pacer.Wait(ctx, i); !ok {
					errs[p] = ctx.Err()
					return
				}
				errs[p] = queue.Add(obj)
				r.meter.Count(1)
			}
		})
	}
	producing.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
