// Package fifobench measures queues of object changes: throughput, waiting time, and how long a
// relist blocks other callers. One goroutine pops, as an informer's loop does; one or more add, as
// a reflector does. The driver is the same for all queues; a [Gear] describes the queue and its
// objects. [Run] is one run with the flags of "lab bench fifo": first as fast as possible, then at
// a fixed rate for the latency. [Scenarios] are the fixed pieces of work of the comparison. A run
// has figures only if every event was handed out once; otherwise it returns a [*bench.ProofError].
// Objects are made before the clock starts, except at a steady rate, where each event brings a new
// object, as from a watch, which is part of its latency.
package fifobench

import (
	"cmp"
	"context"
	"fmt"

	"orrery/internal/lab/bench"
)

func (s subject[T]) run(ctx context.Context, cfg Config, meter *bench.Meter) (*bench.Result, error) {
	r := runner[T]{
		gear: s.gear, cfg: cfg,
		keys: bench.NewKeys(cfg.Keys, cfg.Distribution, cfg.Seed),
		pods: bench.MakePods(cfg.Keys, min(cfg.Keys, 100)),
	}
	for i := range r.pods {
		r.pods[i].Payload = cfg.ObjectSize
	}
	r.objects = s.objects(r.pods)
	return bench.Driver{Load: cfg.Load, Meter: meter, Event: "event", Handled: "events", Phase: r.phase}.Run(ctx)
}

// runner is one run of "lab bench fifo".
type runner[T any] struct {
	gear    Gear[T]
	cfg     Config
	keys    *bench.Keys
	pods    []bench.Pod
	objects []T // of the pods
}

// phase adds events and proves that each was handed out once. As fast as possible, an object has
// the number of its key, and the backlog is bounded. At a steady rate it has the number of its
// event, and producers never wait for the queue; a latency ends when the event was handed out.
func (r *runner[T]) phase(ctx context.Context, p *bench.Phase) error {
	queue, err := r.gear.NewQueue(nil)
	if err != nil {
		return err
	}
	unknown, popped := 0, make([]int, max(len(r.objects), p.Events))
	c := consume(queue, func(obj T, _ bool) {
		number := r.gear.Number(obj)
		if number < 0 || number >= int64(len(popped)) {
			unknown++
			return
		}
		popped[number]++
		if p.Paced() {
			p.Latency.Record(p.Late(int(number)))
		}
	})
	added := make([][]int, r.cfg.Producers) // by producer and key
	for i := range added {
		added[i] = make([]int, len(r.objects))
	}
	timed, cancel := context.WithTimeout(ctx, p.Duration)
	defer cancel()
	add := r.bounded(timed, c, added)
	if p.Paced() {
		add = func(_, event, key int) error { return queue.Add(r.gear.NewObject(r.pods[key].As(int64(event)))) }
	}
	p.Begin()
	p.Usage = bench.Measure(func() {
		err = p.Produce(ctx, r.cfg.Producers, r.keys, add)
		err = cmp.Or(err, c.finish())
	})
	if err := cmp.Or(err, bench.Prove("objects handed out but never added", 0, unknown)); err != nil {
		return err
	}
	for number, got := range popped {
		want := 0
		if p.Paced() && number < p.Events {
			want = 1
		}
		for _, byKey := range added {
			want += at(byKey, number)
		}
		if err := bench.Prove(fmt.Sprintf("events of object %d", number), want, got); err != nil {
			return err
		}
		p.Done += got
	}
	turns := float64(c.turns) / p.Usage.Elapsed.Seconds()
	p.More = []bench.Figure{{Name: "turns", Unit: bench.PerSecond, Value: turns, Better: bench.Higher}}
	p.Proof = fmt.Sprintf("%d events added, each handed out once", p.Done)
	return nil
}

func at(counts []int, i int) int {
	if i < len(counts) {
		return counts[i]
	}
	return 0
}

// bounded returns a function that adds an object and counts it. Until timed ends, a producer is
// ahead of the consumer by at most its share of the backlog, as if all were equally fast.
func (r *runner[T]) bounded(timed context.Context, c *consumer[T], added [][]int) bench.Add {
	producers := len(added)
	backlog := max(r.cfg.Backlog/producers, 1)
	room := make([]int, producers) // the number of its events at which a producer waits for the consumer
	return func(producer, event, key int) error {
		if made := event / producers; made >= room[producer] {
			err := c.waitFor(timed, int64((made-backlog/2)*producers))
			if err != nil && timed.Err() == nil {
				return err
			}
			room[producer] = int(c.seen.Load())/producers + backlog
		}
		added[producer][key]++
		return c.queue.Add(r.objects[key])
	}
}
