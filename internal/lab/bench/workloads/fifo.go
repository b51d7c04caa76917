package workloads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/spf13/pflag"

	"orrery/deltafifo"
	"orrery/deltafifo/fast"
	"orrery/deltafifo/inorder"
	faststore "orrery/indexer/fast"
	"orrery/informer"
	"orrery/internal/lab/bench"
)

// FIFOConfig holds the flags of "lab bench fifo".
type FIFOConfig struct {
	// Keys is the number of objects that change.
	Keys int
	// Backlog is the number of events in flight at which the producer waits. Without this bound the
	// first part of the run would measure memory.
	Backlog int
	bench.Load
}

// AddTo adds a flag for each field.
func (c *FIFOConfig) AddTo(flags *pflag.FlagSet) {
	bench.CountVar(flags, &c.Keys, "keys", 100_000, 1, 10_000_000, "how many objects there are")
	bench.CountVar(flags, &c.Backlog, "backlog", 1000, 1, 1_000_000,
		"how many events may wait before the producer does")
	c.Load.AddTo(flags, "objects")
}

// FIFOGear is a Subject: a queue of changes of objects of type T.
type FIFOGear[T any] struct {
	// Subject is the name in reports.
	Subject string
	Objects[T]
	// NewQueue returns an empty queue in front of its usual kind of store, which holds the known
	// objects.
	NewQueue func(known []T) (FIFO[T], error)
	// NoRelist is true if Replace leaves the comparison with the known objects to the consumer.
	// Timing such a Replace would mean nothing.
	NoRelist bool
}

// FIFO is the part of a queue that the workload uses. An adapter only translates.
type FIFO[T any] interface {
	// Add queues that the object exists, as an addition or an update.
	Add(obj T) error
	// Replace queues that these are all the objects.
	Replace(objects []T, resourceVersion string) error
	// Popper returns a function that waits for a delta and calls see with everything that the queue
	// hands out at once, oldest first. For a deleted object, see gets its last known state and
	// deleted is true. pop returns deltafifo.ErrFIFOClosed when the queue is closed and empty.
	Popper(see func(obj T, deleted bool)) (pop func() error)
	// Close closes the queue. Its content can still be popped.
	Close()
}

// FIFOs returns the queues of this project. The first is the default.
func FIFOs() []Subject[FIFOConfig] {
	return []Subject[FIFOConfig]{FastFIFO(), TextbookFIFO(), InOrderFIFO()}
}

// FastFIFO returns package deltafifo/fast in front of package indexer/fast.
func FastFIFO() FIFOGear[object] {
	return ourFIFO("fast", func(cfg fifoConfig) fifo { return fast.New(cfg) })
}

// TextbookFIFO returns package deltafifo in front of the same store: one lock, held for everything.
func TextbookFIFO() FIFOGear[object] {
	return ourFIFO("textbook", func(cfg fifoConfig) fifo { return deltafifo.New(cfg) })
}

// InOrderFIFO returns package deltafifo/inorder in front of the same store: every event separately,
// in order of arrival.
func InOrderFIFO() FIFOGear[object] {
	g := ourFIFO("inorder", func(cfg fifoConfig) fifo { return inorder.New(cfg) })
	g.NoRelist = true
	return g
}

type (
	fifo       = deltafifo.Interface[object]
	fifoConfig = deltafifo.Config[object]
)

func ourFIFO(name string, newQueue func(fifoConfig) fifo) FIFOGear[object] {
	return FIFOGear[object]{
		Subject: name, Objects: ourObjects,
		NewQueue: func(known []object) (FIFO[object], error) {
			store := faststore.New(keyed)
			cfg := fifoConfig{KeyFunc: informer.MetaNamespaceKeyFunc[object], KnownObjects: store}
			return deltaFIFO{newQueue(cfg)}, store.Replace(known, "1")
		},
	}
}

type deltaFIFO struct{ fifo }

// popBatch is the most keys that the consumer takes at once from the fast queue.
const popBatch = 64

func (q deltaFIFO) Popper(see func(obj object, deleted bool)) (pop func() error) {
	process := func(_ string, d deltafifo.Deltas[object], _ bool) error {
		for i := range d {
			see(d[i].Object, d[i].Type == deltafifo.Deleted)
		}
		return nil
	}
	if batches, ok := q.fifo.(*fast.DeltaFIFO[object]); ok {
		return func() error {
			_, err := batches.PopBatch(popBatch, process)
			return err
		}
	}
	return func() error {
		_, err := q.Pop(process)
		return err
	}
}

// Name returns the name in reports.
func (g FIFOGear[T]) Name() string { return g.Subject }

// Run measures throughput and latency while one goroutine pops, as an informer's loop does, and
// another adds, as a reflector does. At a steady rate each event brings a new object, as from a
// watch, which is part of its latency.
func (g FIFOGear[T]) Run(ctx context.Context, cfg *FIFOConfig, meter *bench.Meter) (*bench.Result, error) {
	r := fifoRun[T]{
		gear: g, cfg: *cfg,
		keys: bench.NewKeys(cfg.Keys, cfg.Distribution, cfg.Seed),
		pods: MakePods(cfg.Keys, min(cfg.Keys, 100)),
	}
	r.objects = g.All(r.pods)
	return bench.Driver{Load: cfg.Load, Meter: meter, Event: "event", Handled: "events", Phase: r.phase}.Run(ctx)
}

// fifoRun is one run of "lab bench fifo".
type fifoRun[T any] struct {
	gear    FIFOGear[T]
	cfg     FIFOConfig
	keys    *bench.Keys
	pods    []Pod
	objects []T // of the pods
}

// phase adds events and proves that each was handed out once. As fast as possible, an object has
// the number of its key, and the backlog is bounded. At a steady rate it has the number of its
// event, and the producer never waits for the queue; a latency ends when the event was handed out.
func (r *fifoRun[T]) phase(ctx context.Context, p *bench.Phase) error {
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
	added := make([]int, len(popped))
	timed, cancel := context.WithTimeout(ctx, p.Duration)
	defer cancel()
	makeRoom := c.bounded(r.cfg.Backlog)
	add := func(event, key int) error {
		if p.Paced() {
			added[event]++
			return queue.Add(r.gear.New(r.pods[key].As(int64(event))))
		}
		if err := makeRoom(timed, event); err != nil && timed.Err() == nil {
			return err
		}
		added[key]++
		return queue.Add(r.objects[key])
	}
	p.Begin()
	p.Usage = bench.Measure(func() {
		err = p.Produce(ctx, r.keys, add)
		err = cmp.Or(err, c.finish())
	})
	if err := cmp.Or(err, bench.Prove("objects handed out but never added", 0, unknown)); err != nil {
		return err
	}
	for number, got := range popped {
		if err := bench.Prove(fmt.Sprintf("events of object %d", number), added[number], got); err != nil {
			return err
		}
		p.Done += got
	}
	p.Also("turns", c.turns)
	p.Proof = fmt.Sprintf("%d events added, each handed out once", p.Done)
	return nil
}

// consumer pops in its own goroutine until the queue is closed and empty.
type consumer[T any] struct {
	queue FIFO[T]
	// seen counts the objects handed out; the producer reads it to bound the backlog.
	seen atomic.Int64
	// turns counts the calls of Pop that returned something. Owned by the goroutine until ended.
	turns int
	// err is the error that ended the loop. Owned by the goroutine until ended.
	err   error
	ended chan struct{}
}

// consume starts a consumer that calls see for every object, in the consumer's goroutine.
func consume[T any](queue FIFO[T], see func(obj T, deleted bool)) *consumer[T] {
	c := &consumer[T]{queue: queue, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		c.err = c.loop(see)
	}()
	return c
}

func (c *consumer[T]) loop(see func(obj T, deleted bool)) error {
	n := int64(0)
	count := func(obj T, deleted bool) {
		see(obj, deleted)
		n++
	}
	pop := c.queue.Popper(count)
	for {
		switch err := pop(); {
		case errors.Is(err, deltafifo.ErrFIFOClosed):
			return nil
		case err != nil:
			return err
		}
		c.turns++
		c.seen.Store(n)
	}
}

// finish closes the queue and waits until the consumer has ended.
func (c *consumer[T]) finish() error {
	c.queue.Close()
	<-c.ended
	return c.err
}

// bounded returns a function that the producer calls before each event. If the backlog is full, it
// blocks until half of it was handed out.
func (c *consumer[T]) bounded(backlog int) func(ctx context.Context, event int) error {
	room := backlog // the next event that must wait
	return func(ctx context.Context, event int) error {
		if event < room {
			return nil
		}
		err := c.waitFor(ctx, int64(event-backlog/2))
		room = int(c.seen.Load()) + backlog
		return err
	}
}

// waitFor blocks until the consumer has seen n objects. It spins, because parking and waking the
// goroutine would be measured too.
func (c *consumer[T]) waitFor(ctx context.Context, n int64) error {
	for spins := 1; c.seen.Load() < n; spins++ {
		runtime.Gosched()
		if spins%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}
