package workloads

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"orrery/informer"
	"orrery/internal/lab/bench"
)

// DispatchSubject makes the informers of one library, or of one design. Its methods may be called
// from any goroutine.
type DispatchSubject interface {
	// Name is the name in results.
	Name() string
	// Merges reports whether slow handlers may get several events as one.
	Merges() bool
	// New returns an informer of pods, not yet running.
	New() DispatchInformer
}

// State is a version of a pod: a value of the library's type.
type State = informer.Object

// DispatchInformer is an informer behind a fake watch. It is used by one goroutine: Decode and
// As, AddHandler, Start, Send any number of times, and finally Stop.
type DispatchInformer interface {
	// Decode decodes the JSON of a pod with the library's decoder.
	Decode(document []byte) (State, error)
	// As returns a shallow copy of a state in another resource version.
	As(state State, version string) State
	// AddHandler registers a handler, which gets the initial list as additions.
	AddHandler(h Handler) error
	// Start runs the informer with the listed states and returns when every handler has them. The
	// watch holds up to buffer events; then Send blocks.
	Start(listed []State, buffer int) error
	// Send makes the watch send the state as a modified event.
	Send(state State)
	// Stored returns the content of the store.
	Stored() []State
	// Stop stops the informer and waits for its goroutines.
	Stop()
}

// Handler receives the events. Each handler has its own goroutine, owned by the library. OnDelete
// gets the last state of the pod.
type Handler interface {
	OnAdd(state State)
	OnUpdate(old, state State)
	OnDelete(state State)
}

// DispatchConfig holds the flags of "lab bench dispatch".
type DispatchConfig struct {
	Handlers int
	// HandlerCost is the duration of each callback: work below 50 us, sleep from there on.
	HandlerCost time.Duration
	// Objects is the number of objects in the store.
	Objects int
	bench.Load
}

// AddTo adds a flag for each field.
func (c *DispatchConfig) AddTo(flags *pflag.FlagSet) {
	bench.CountVar(flags, &c.Handlers, "handlers", 1, 1, 1000, "how many handlers there are")
	bench.CostVar(flags, &c.HandlerCost)
	bench.CountVar(flags, &c.Objects, "objects", 10_000, 1, 1_000_000, "how many objects are in the store")
	c.Load.AddTo(flags, "objects")
}

// RunDispatch measures a subject with the given parameters. A latency is the time from when an
// event was due until a handler was called with it, or with the event that it was merged into.
// Every handler counts.
func RunDispatch(
	ctx context.Context, subject DispatchSubject, cfg *DispatchConfig, meter *bench.Meter,
) (*bench.Result, error) {
	meter.Begin("preparing events")
	cost := bench.NewCost(cfg.HandlerCost)
	w, err := newWorld(subject.New(), subject.Merges(), *cfg, watchBuffer, func(w *witness) {
		if cfg.HandlerCost > 0 {
			w.work = cost.Spend
		}
	})
	if err != nil {
		return nil, err
	}
	defer w.informer.Stop()
	keys := bench.NewKeys(cfg.Objects, cfg.Distribution, cfg.Seed)
	r := &dispatchRun{DispatchConfig: *cfg, subject: subject, world: w, keys: keys}
	warmUp := bench.Load{Duration: cfg.Duration / 10}
	if err := r.phase(ctx, &bench.Phase{Driver: bench.Driver{Load: warmUp}}); err != nil {
		return nil, err // of the warm-up: the store and the buffers reach their size
	}
	runtime.GC()
	return bench.Driver{Load: cfg.Load, Meter: meter, Event: "event", Handled: "events", Phase: r.phase}.Run(ctx)
}

// dispatchRun is one run.
type dispatchRun struct {
	DispatchConfig
	subject DispatchSubject
	world   *world
	keys    *bench.Keys
}

// watchBuffer is the number of events that the watch holds for the subject.
const watchBuffer = 1024

// phase sends the events of a phase and proves their delivery. As fast as possible, it sends the
// states that were made beforehand, and waits for handlers that are too far behind.
func (r *dispatchRun) phase(ctx context.Context, p *bench.Phase) (err error) {
	w := r.world
	w.phase, w.once = p, make([]onceEvent, p.Events)
	lead, sent, delivered := r.lead(), w.sent, r.callbacks()
	p.Begin()
	p.Usage = bench.Measure(func() {
		err = p.Produce(ctx, r.keys, func(event, object int) error {
			if p.Paced() {
				w.sendOnce(event, object, w.informer.As(w.states[object][0], versionOf(w.stateCount()+event)))
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
	p.Also("callbacks", r.callbacks()-delivered)
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
func (r *dispatchRun) lead() int64 {
	const most, least, worth = 4096, 16, 50 * time.Millisecond
	if r.HandlerCost <= 0 {
		return most
	}
	return max(min(most, int64(worth/r.HandlerCost)), least)
}

// waitForHandlers waits for handlers that are too far behind.
func (r *dispatchRun) waitForHandlers(lead int64) {
	for _, witness := range r.world.witnesses {
		for !r.subject.Merges() && int64(r.world.sent)-witness.seen.Load() > lead {
			runtime.Gosched()
			if r.HandlerCost > time.Microsecond {
				time.Sleep(min(r.HandlerCost, time.Millisecond))
			}
		}
	}
}

func (r *dispatchRun) callbacks() (n int) {
	for _, w := range r.world.witnesses {
		n += w.events
	}
	return n
}
