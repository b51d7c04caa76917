package queuebench

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// run is what the phases of a run have in common.
type run struct {
	Config
	keys    *load.Keys
	indexOf func(key string) int
	cells   []cell // by index of the key; all zero between two phases
	cost    load.Cost
	meter   *bench.Meter
}

// cell is what the workload knows about one key. A producer notes an event in it before it adds the key, a worker takes it out
// when it was handed the key. So an event that is still there when the queue has become empty was lost.
type cell struct {
	due  atomic.Int64 // of the oldest event that nobody has dealt with, in ns since the phase began, at least 1; 0: none
	held atomic.Bool  // a worker has the key
}

// phase is one load on one queue, and what came of it.
type phase struct {
	*run
	*guard
	start time.Time
	until time.Duration // no more events from then on
	pacer *load.Pacer   // nil: as fast as it goes

	mu sync.Mutex
	tally
	usage bench.Usage
}

// tally is what a goroutine has counted.
type tally struct {
	added, processed int
	strange, twice   int // keys that nobody had added, and that two workers had at once
	latency          bench.Histogram
}

func (p *phase) collect(t *tally) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.added += t.added
	p.processed += t.processed
	p.strange += t.strange
	p.twice += t.twice
	p.latency.Merge(&t.latency)
}

// phase puts one load on a new queue: rate events a second, or as many as possible if rate is 0.
func (r *run) phase(ctx context.Context, subject Subject, name string, lasts time.Duration, rate float64) (*phase, error) {
	options := Options{}
	if r.Metrics {
		options.Sinks = new(Sinks)
	}
	r.meter.Begin(name, "keys", lasts, 0)
	p := &phase{run: r, guard: watch(ctx, subject.New(options), r.meter), start: time.Now(), until: lasts}
	defer p.Close()
	if rate > 0 {
		p.pacer = load.NewPacer(p.start, rate)
	}
	p.usage = bench.Measure(func() { p.work(ctx) })
	return p, p.prove(ctx)
}

// prove proves what was done, and wipes the cells.
func (p *phase) prove(ctx context.Context) error {
	left := 0
	for i := range p.cells {
		if p.cells[i].due.Swap(0) != 0 {
			left++
		}
	}
	return cmp.Or(
		ctx.Err(),
		bench.Prove("keys that nobody had added", 0, p.strange),
		bench.Prove("keys that two workers had at once", 0, p.twice),
		bench.Prove("keys that were not handed out after their last Add", 0, left),
	)
}

func (p *phase) work(ctx context.Context) {
	var producers, workers sync.WaitGroup
	for range p.Workers {
		workers.Go(func() { p.worker(ctx) })
	}
	for i := range p.Producers {
		if p.pacer == nil {
			producers.Go(func() { p.fastProducer(ctx, i) })
		} else {
			producers.Go(func() { p.pacedProducer(ctx, i) })
		}
	}
	producers.Wait()
	look := max(100*time.Microsecond, p.HandlerCost/10)
	for ctx.Err() == nil && !p.ended() && !p.settled() {
		time.Sleep(look)
	}
	p.ShutDown()
	workers.Wait()
}

// settled says that no event waits for a worker.
func (p *phase) settled() bool {
	if p.q.Len() > 0 {
		return false
	}
	for i := range p.cells {
		if p.cells[i].due.Load() != 0 {
			return false
		}
	}
	return true
}

// batch is how many keys go by between two looks at the clock and the context. A producer adds one at least, however late it begins.
const batch = 256

// portion is how many keys a worker deals with between two signs of life. Those of slow ones come singly, or the guard would take the keys
// that wait for them for lost.
func (r *run) portion() int {
	if r.HandlerCost <= 0 {
		return batch
	}
	return int(min(max(time.Second/r.HandlerCost, 1), batch))
}

func (p *phase) fastProducer(ctx context.Context, number int) {
	var t tally
	defer p.collect(&t)
	picker := p.keys.Picker(number)
	for begun := false; ctx.Err() == nil && (!begun || time.Since(p.start) < p.until); begun = true {
		for range batch {
			i := picker.Next()
			p.cells[i].due.Store(1)
			p.q.Add(p.keys.Key(i))
		}
		t.added += batch
	}
}

func (p *phase) pacedProducer(ctx context.Context, number int) {
	var t tally
	defer p.collect(&t)
	picker := p.keys.Picker(number)
	for event := number; p.pacer.Due(event) < p.until; event += p.Producers {
		due, ok := p.pacer.Wait(ctx, event)
		if !ok {
			return
		}
		i := picker.Next()
		p.cells[i].due.CompareAndSwap(0, int64(due)+1)
		p.q.Add(p.keys.Key(i))
		t.added++
	}
}

func (p *phase) worker(ctx context.Context) {
	var t tally
	defer p.collect(&t)
	portion := p.portion()
	for {
		key, shutdown := p.q.Get()
		if shutdown {
			return
		}
		if i := p.indexOf(key); i >= 0 {
			p.handle(ctx, &p.cells[i], &t)
		} else {
			t.strange++
		}
		p.q.Done(key)
		if t.processed++; t.processed%portion == 0 {
			p.Moved(portion)
		}
	}
}

// handle is the controller's work on a key. Nobody wants to wait for the backlog of a run that is broken off.
func (p *phase) handle(ctx context.Context, c *cell, t *tally) {
	if !c.held.CompareAndSwap(false, true) {
		t.twice++
	}
	due := c.due.Swap(0)
	if p.HandlerCost > 0 && ctx.Err() == nil {
		p.cost.Spend()
	}
	if p.pacer != nil && due != 0 {
		t.latency.Record(time.Since(p.start) - time.Duration(due-1))
	}
	c.held.Store(false)
}
