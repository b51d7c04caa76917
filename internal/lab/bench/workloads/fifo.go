package workloads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

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
	bench.NumberVar(flags, &c.Keys, "keys", 100_000, 1, 10_000_000, "how many objects there are")
	bench.NumberVar(flags, &c.Backlog, "backlog", 1000, 1, 1_000_000,
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
	phase := newFIFORun(g, cfg).phase
	return bench.Driver{Load: cfg.Load, Meter: meter, Event: "event", Handled: "events", Phase: phase}.Run(ctx)
}

// fifoRun is one run of "lab bench fifo" or of fifo/add-pop.
type fifoRun[T any] struct {
	gear    FIFOGear[T]
	cfg     *FIFOConfig
	keys    *bench.Keys
	pods    []Pod
	objects []T // of the pods
}

func newFIFORun[T any](g FIFOGear[T], cfg *FIFOConfig) *fifoRun[T] {
	pods := MakePods(cfg.Keys, min(cfg.Keys, 100))
	keys := bench.NewKeys(cfg.Keys, cfg.Distribution, cfg.Seed)
	return &fifoRun[T]{gear: g, cfg: cfg, keys: keys, pods: pods, objects: g.All(pods)}
}

// phase adds events and proves that each was handed out once. As fast as possible, an object has
// the number of its key, and the backlog is bounded. At a steady rate it has the number of its
// event, and the producer never waits for the queue; a latency ends when the event was handed out.
// Keys that are drawn in turn must also be handed out in turn.
func (r *fifoRun[T]) phase(ctx context.Context, p *bench.Phase) error {
	queue, err := r.gear.NewQueue(nil)
	if err != nil {
		return err
	}
	wrong, next, popped := 0, 0, make([]int, max(len(r.objects), p.Events))
	c := consume(queue, func(obj T, _ bool) {
		number := r.gear.Number(obj)
		if number < 0 || number >= int64(len(popped)) || p.Fixed() && number != int64(next) {
			wrong++
			return
		}
		popped[number]++
		if next++; next == len(r.objects) {
			next = 0
		}
		if p.Paced() {
			p.Latency.Record(p.Late(int(number)))
		}
	})
	added := make([]int, len(popped))
	timed, cancel := context.WithTimeout(ctx, p.Duration)
	defer cancel()
	add := func(event, key int) error {
		if p.Paced() {
			added[event]++
			return queue.Add(r.gear.New(r.pods[key].As(int64(event))))
		}
		if err := c.makeRoom(timed, event, r.cfg.Backlog); err != nil && timed.Err() == nil {
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
	if err := cmp.Or(err, bench.Prove("objects handed out but never added, or not in turn", 0, wrong)); err != nil {
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
	room int // the producer's next event that may have to wait
	// turns counts the calls of Pop that returned something, and err is the error that ended the
	// loop. Both are owned by the goroutine until ended.
	turns int
	err   error
	ended chan struct{}
}

// consume starts a consumer that calls see for every object, in the consumer's goroutine.
func consume[T any](queue FIFO[T], see func(obj T, deleted bool)) *consumer[T] {
	c := &consumer[T]{queue: queue, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		n := int64(0)
		pop := queue.Popper(func(obj T, deleted bool) {
			see(obj, deleted)
			n++
		})
		for c.err = pop(); c.err == nil; c.err = pop() {
			c.turns++
			c.seen.Store(n)
		}
		if errors.Is(c.err, deltafifo.ErrFIFOClosed) {
			c.err = nil
		}
	}()
	return c
}

// finish closes the queue and waits until the consumer has ended.
func (c *consumer[T]) finish() error {
	c.queue.Close()
	<-c.ended
	return c.err
}

// makeRoom is called before each event. If the backlog is full, it blocks until half of it was
// handed out. It spins, because parking and waking the goroutine would be measured too.
func (c *consumer[T]) makeRoom(ctx context.Context, event, backlog int) error {
	if event < c.room {
		return nil
	}
	for spins := 1; c.seen.Load() < int64(event-backlog/2); spins++ {
		runtime.Gosched()
		if spins%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	c.room = int(c.seen.Load()) + backlog
	return nil
}

// Scenarios returns the pieces of work of the comparison.
func (g FIFOGear[T]) Scenarios() []bench.Scenario {
	all := []bench.Scenario{{Name: "fifo/add-pop", Run: g.addPop}}
	if !g.NoRelist {
		all = append(all, bench.Scenario{Name: "fifo/relist", Run: g.relist})
	}
	return all
}

// addPop adds objects in one goroutine and pops them in another. No key waits twice, so nothing is
// merged, and each Add costs a Pop. Time runs from the first Add to the last object handed out.
func (g FIFOGear[T]) addPop(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	n := effort.Of(500_000, 100_000)
	cfg := &FIFOConfig{Keys: 10_000, Backlog: 1000, Load: bench.Load{Distribution: bench.InTurn}}
	p, err := bench.Fixed(ctx, n, newFIFORun(g, cfg).phase)
	if err != nil {
		return bench.Outcome{}, err
	}
	return bench.Outcome{
		Figures: p.Usage.PerOp(n),
		Proof:   fmt.Sprintf("%d objects added by one goroutine and popped by another, once each and in order", n),
	}, nil
}

// relistKnown is the number of objects in the store. Tests use fewer.
var relistKnown = 100_000

// relistVanished of them are missing from the list.
const relistVanished = 1000

// relist calls Replace with a list of as many objects as the store knows, of which 1,000 are new
// and 1,000 have vanished. "ms" is the duration of Replace. Meanwhile another goroutine adds an
// object every 200 us, as a watch would; "lock-ms" is the longest of its calls.
func (g FIFOGear[T]) relist(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	all := MakePods(relistKnown+relistVanished, 101)
	known := g.All(all[:relistKnown])
	listed := make([]T, 0, relistKnown)
	for _, p := range all[relistVanished:] {
		listed = append(listed, g.New(p.As(p.Number+int64(len(all)))))
	}
	// The other goroutine's object is one that is listed, so the list does not delete it.
	other := g.New(all[relistVanished].As(bystander))
	var took, waited []float64 // milliseconds
	for range effort.Of(3, 2) {
		replace, wait, err := g.relistOnce(ctx, known, listed, other)
		if err != nil {
			return bench.Outcome{}, err
		}
		took, waited = append(took, replace.Seconds()*1000), append(waited, wait.Seconds()*1000)
	}
	return bench.Outcome{
		Figures: map[string]float64{"ms": bench.Median(took), "lock-ms": bench.Median(waited)},
		Proof: fmt.Sprintf("a list of %d objects against a store of %d: "+
			"%d objects and %d deletions popped, concurrent events included",
			len(listed), len(known), len(listed), relistVanished),
	}, nil
}

// bystander is the number of the object that the other goroutine adds.
const bystander = -1

// relistOnce returns how long Replace took, and how long the slowest Add beside it. It proves that
// every listed object was handed out once, every vanished one as a deletion with the state from the
// store, and everything that the other goroutine added.
func (g FIFOGear[T]) relistOnce(
	ctx context.Context, known, listed []T, other T,
) (took, waited time.Duration, err error) {
	queue, err := g.NewQueue(known)
	if err != nil {
		return 0, 0, err
	}
	runtime.GC() // collect the garbage of earlier rounds

	stop, stopped, added := make(chan struct{}), make(chan error, 1), 0
	started := make(chan struct{})
	go func() {
		const rate = 5000 // per second
		pacer := bench.NewPacer(time.Now(), rate)
		for err := error(nil); ; { // without a ticker, whose resolution of a millisecond would miss shorter locks
			began := time.Now()
			err = cmp.Or(err, queue.Add(other))
			waited = max(waited, time.Since(began))
			if added++; added == 1 {
				close(started)
			}
			pacer.Wait(ctx, added)
			select {
			case <-stop:
				stopped <- err
				return
			default:
			}
		}
	}()
	<-started
	began := time.Now()
	err = queue.Replace(listed, "2")
	took = time.Since(began)
	close(stop)
	err = cmp.Or(<-stopped, ctx.Err(), err)

	want, wrong := map[int64]int{bystander: added}, 0
	for i := range relistVanished {
		want[int64(i)] = 1
	}
	for _, obj := range listed {
		want[g.Number(obj)] = 1
	}
	c := consume(queue, func(obj T, gone bool) {
		number := g.Number(obj)
		if vanished := number >= 0 && number < relistVanished; gone == vanished {
			want[number]--
		} else {
			wrong++
		}
	})
	err = cmp.Or(err, c.finish())
	for _, missing := range want {
		if missing != 0 {
			wrong++
		}
	}
	return took, waited, cmp.Or(err, bench.Prove("objects handed out too rarely, too often or in a wrong state", 0, wrong))
}
