package workloads

import (
	"cmp"
	"context"
	"sync"
	"time"

	"orrery/internal/lab/bench"
)

// measure puts a load on a new queue of the subject for a time: rate events a second, or as many as
// possible if rate is 0. It returns the phase with its counts and its usage, and prove's error.
//
// First it prepares everything: the subject makes the queue, and watch makes the guard. Only then
// the phase starts. The pacer and all due times count from its start, and bench.Measure measures
// nothing but work.
func (r *run) measure(ctx context.Context, subject QueueSubject, lasts time.Duration, rate float64) (*phase, error) {
	p := &phase{run: r, guard: watch(ctx, subject.New(QueueOptions{})), until: lasts}
	defer p.Close()
	p.start = time.Now()
	if rate > 0 {
		p.pacer = bench.NewPacer(p.start, rate)
	}
	p.usage = bench.Measure(func() { p.work(ctx) })
	return p, p.prove(ctx)
}

// work runs the workers and the producers until no event is left, and shuts the queue down. The
// backlog is part of the work: a harness that stops its clock when the last event is added would
// praise a queue that only takes events in.
func (p *phase) work(ctx context.Context) {
	var producers, workers sync.WaitGroup
	for range p.Workers {
		workers.Go(func() { p.consume(ctx) })
	}
	for i := range p.Producers {
		if p.pacer == nil {
			producers.Go(func() { p.saturate(ctx, i) })
		} else {
			producers.Go(func() { p.produce(ctx, i) })
		}
	}
	producers.Wait()
	interval := max(100*time.Microsecond, p.HandlerCost/10)
	for ctx.Err() == nil && !p.ended() && !p.drained() {
		time.Sleep(interval)
	}
	p.ShutDown()
	workers.Wait()
}

// saturate is a producer that adds keys as fast as the queue takes them. There is no time at which
// an event is due, so there are no latencies.
func (p *phase) saturate(ctx context.Context, number int) {
	var t tally
	defer p.collect(&t)
	draw := p.keys.Picker(number)
	for begun := false; ctx.Err() == nil && (!begun || time.Since(p.start) < p.until); begun = true {
		for range batch {
			i := draw.Next()
			p.states[i].due.Store(1)
			p.q.Add(p.keys.Key(i))
		}
		t.added += batch
	}
}

// produce is a producer of an open loop: the pacer alone says when an event is due, whatever the
// queue does. The producers share the events of the pacer: this one has number, number+Producers,
// number+2*Producers, and so on, as long as they are due before until.
//
// For each event it waits until it is due, draws a key from the keys' Picker with its number,
// records in the key's state when the event was due (see keyState), and then adds the key. An event
// that is late is added at once and keeps its due time. A key that has an unhandled event keeps the
// time of that one: the queue merges both, and the older has waited longer.
//
// The tally counts what was added; collect gets it when the producer ends. If the pacer reports the
// end of ctx, produce adds nothing more.
func (p *phase) produce(ctx context.Context, number int) {
	var t tally
	defer p.collect(&t)
	picker := p.keys.Picker(number)
	for event := number; p.pacer.Due(event) < p.until; event += p.Producers {
		due, ok := p.pacer.Wait(ctx, event)
		if !ok {
			return
		}
		i := picker.Next()
		p.states[i].due.CompareAndSwap(0, int64(due)+1)
		p.q.Add(p.keys.Key(i))
		t.added++
	}
}

// consume is a worker: it gets keys until the queue's shutdown, handles them, and gives them back
// with Done.
//
// To handle a key is, in this order:
//   - to hold it: a key that another worker holds counts as twice, and is handled as well. A key
//     that indexOf does not know counts as unknown, and the next two points do not apply to it;
//   - to take the due time out of the key's state, before the work: an event that comes meanwhile
//     needs another pass;
//   - to spend the cost, unless ctx has ended: then the backlog must go quickly.
//
// The latency of an event ends here, when its work is done. It is recorded if there is a pacer and
// an event was due. Then the key is released, and only then comes Done. Every key counts as
// processed, and after each batchSize of them consume calls Moved.
func (p *phase) consume(ctx context.Context) {
	var t tally
	defer p.collect(&t)
	size := p.batchSize()
	for {
		key, shutdown := p.q.Get()
		if shutdown {
			return
		}
		if i := p.indexOf(key); i >= 0 {
			p.handle(ctx, &p.states[i], &t)
		} else {
			t.unknown++
		}
		p.q.Done(key)
		if t.processed++; t.processed%size == 0 {
			p.Moved()
		}
	}
}

// handle does the work of consume on a key that is known.
func (p *phase) handle(ctx context.Context, state *keyState, t *tally) {
	if !state.held.CompareAndSwap(false, true) {
		t.twice++
	}
	due := state.due.Swap(0)
	if p.HandlerCost > 0 && ctx.Err() == nil {
		p.cost.Spend()
	}
	if p.pacer != nil && due != 0 {
		t.latency.Record(time.Since(p.start) - time.Duration(due-1))
	}
	state.held.Store(false)
}

// prove returns an error unless the queue did its work: ctx.Err() if ctx has ended, or else what
// bench.Prove returns for the first of these counts that is not 0:
//   - "keys handed out but never added"
//   - "keys handed out to two workers at once"
//   - "keys not handed out after their last Add"
//
// Numbers of keys prove nothing, because a queue merges keys.
func (p *phase) prove(ctx context.Context) error {
	left := 0
	for i := range p.states {
		if p.states[i].due.Load() != 0 {
			left++
		}
	}
	return cmp.Or(
		ctx.Err(),
		bench.Prove("keys handed out but never added", 0, p.unknown),
		bench.Prove("keys handed out to two workers at once", 0, p.twice),
		bench.Prove("keys not handed out after their last Add", 0, left),
	)
}
