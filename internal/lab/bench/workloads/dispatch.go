package workloads

import (
	"context"
	"fmt"
	"runtime"
	"sync"
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
	bench.NumberVar(flags, &c.Handlers, "handlers", 1, 1, 1000, "how many handlers there are")
	bench.CostVar(flags, &c.HandlerCost)
	bench.NumberVar(flags, &c.Objects, "objects", 10_000, 1, 1_000_000, "how many objects are in the store")
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
	r, err := newDispatchRun(subject, cfg, watchBuffer, func(w *witness) {
		if cfg.HandlerCost > 0 {
			w.work = cost.Spend
		}
	})
	if err != nil {
		return nil, err
	}
	defer r.informer.Stop()
	warmUp := bench.Load{Duration: cfg.Duration / 10}
	if err := r.phase(ctx, &bench.Phase{Driver: bench.Driver{Load: warmUp}}); err != nil {
		return nil, err // of the warm-up: the store and the buffers reach their size
	}
	runtime.GC()
	return bench.Driver{Load: cfg.Load, Meter: meter, Event: "event", Handled: "events", Phase: r.phase}.Run(ctx)
}

// dispatchRun is one run, or a scenario.
type dispatchRun struct {
	*DispatchConfig
	*world
	keys *bench.Keys
}

// watchBuffer is the number of events that the watch holds for the subject.
const watchBuffer = 1024

func newDispatchRun(
	subject DispatchSubject, cfg *DispatchConfig, buffer int, prepare func(*witness),
) (*dispatchRun, error) {
	w, err := newWorld(subject, cfg, buffer, prepare)
	return &dispatchRun{cfg, w, bench.NewKeys(cfg.Objects, cfg.Distribution, cfg.Seed)}, err
}

// phase sends the events of a phase and proves their delivery. As fast as possible, it sends the
// states that were made beforehand, and waits for handlers that are too far behind. In a fixed
// piece of work it does not wait for them, and they only count; afterwards they check each object
// again.
func (r *dispatchRun) phase(ctx context.Context, p *bench.Phase) (err error) {
	r.due, r.once = p, nil
	if p.Paced() {
		r.once = make([]onceEvent, p.Events)
	}
	if p.Fixed() {
		r.count(p.Events)
	}
	lead, sent, delivered := r.lead(), r.sent, r.callbacks()
	p.Begin()
	p.Usage = bench.Measure(func() {
		err = p.Produce(ctx, r.keys, func(event, object int) error {
			if p.Paced() {
				r.sendOnce(event, object, r.informer.As(r.states[object][0], versionOf(r.stateCount()+event)))
				return nil
			}
			if !p.Fixed() && int64(event)%min(lead, 64) == 0 {
				r.waitForHandlers(lead)
			}
			r.send(object)
			return nil
		})
		if err == nil {
			err = r.drain(ctx)
		}
	})
	if err != nil {
		return err
	}
	p.Done = r.sent - sent
	p.Also("callbacks", r.callbacks()-delivered)
	if p.Fixed() {
		r.resume()
		r.play(2 * r.Objects)
		if err := r.drain(ctx); err != nil {
			return err
		}
	}
	if err := r.verify(); err != nil {
		return err
	}
	for _, witness := range r.witnesses {
		p.Latency.Merge(&witness.latency)
	}
	order := "in order for each object"
	if r.merges {
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
	for _, witness := range r.witnesses {
		for !r.merges && int64(r.sent)-witness.seen.Load() > lead {
			runtime.Gosched()
			if r.HandlerCost > time.Microsecond {
				time.Sleep(min(r.HandlerCost, time.Millisecond))
			}
		}
	}
}

// callbacks returns the number of events that all handlers received. Call it after drain.
func (r *dispatchRun) callbacks() (n int) {
	for _, w := range r.witnesses {
		n += w.events
	}
	return n
}

// DispatchScenarios returns the fixed pieces of work of the comparison, which
// upstream/bench/compare/texts describes.
func DispatchScenarios(subject DispatchSubject) []bench.Scenario {
	coalescing := subject
	if subject == DispatchSubject(DesignFast) {
		coalescing = DesignCoalescing
	}
	return []bench.Scenario{
		dispatchScenario("dispatch/1", subject, 1),
		dispatchScenario("dispatch/16", subject, 16),
		{Name: "dispatch/idle", Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
			return idle(ctx, subject, effort)
		}},
		stalledScenario("dispatch/stalled-default", subject),
		stalledScenario("dispatch/stalled-coalescing", coalescing),
	}
}

// dispatchScenario sends updates of all objects in turn, as fast as the informer takes them, and
// waits until all are delivered to every handler.
func dispatchScenario(name string, subject DispatchSubject, handlers int) bench.Scenario {
	return bench.Scenario{Name: name, Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
		n := effort.Of(300_000, 50_000) * 4 / (handlers + 3) // with more handlers an event costs more
		cfg := &DispatchConfig{Handlers: handlers, Objects: effort.Of(10_000, 2_500),
			Load: bench.Load{Distribution: bench.InTurn}}
		r, err := newDispatchRun(subject, cfg, n, nil)
		if err != nil {
			return bench.Outcome{}, err
		}
		defer r.informer.Stop()
		p, err := bench.Fixed(ctx, n, r.phase)
		if err != nil {
			return bench.Outcome{}, err
		}
		usage := p.Usage.PerOp(n)
		return bench.Outcome{
			Figures: map[string]float64{"ns/event": usage["ns/op"], "allocs/event": usage["allocs/op"]},
			Proof: fmt.Sprintf("%d updates delivered to each handler (%d) in order; %d objects in the store "+
				"in their latest state", r.sent, handlers, len(r.names)),
		}, nil
	}}
}

// idle sends single events into an otherwise idle informer: each after the handler was called with
// the previous one. It receives from a single channel, because a select would add to the measured
// time: the comparison ends a process whose informer has lost an event.
func idle(ctx context.Context, subject DispatchSubject, effort bench.Effort) (bench.Outcome, error) {
	cfg := &DispatchConfig{Handlers: 1, Objects: effort.Of(10_000, 2_500)}
	began, called := time.Now(), make(chan time.Duration, 1)
	w, err := newWorld(subject, cfg, 1, func(w *witness) {
		w.observe = func() { called <- time.Since(began) }
	})
	if err != nil {
		return bench.Outcome{}, err
	}
	defer w.informer.Stop()
	measure := func(n int) (latencies bench.Histogram) {
		for i := 0; i < n && ctx.Err() == nil; i++ {
			sent := time.Since(began)
			w.play(1)
			latencies.Record(<-called - sent)
		}
		return latencies
	}
	n := effort.Of(100_000, 20_000)
	measure(n / 10) // warm-up
	runtime.GC()
	latencies := measure(n)
	if err := w.drain(ctx); err != nil {
		return bench.Outcome{}, err
	}
	return bench.Outcome{
		Figures: map[string]float64{"p50": float64(latencies.Quantile(0.5))},
		Proof: fmt.Sprintf("%d updates, one at a time, delivered in order; "+
			"%d objects in the store in their latest state", w.sent, len(w.names)),
	}, w.verify()
}

// stalledScenario sends updates of one object to two handlers. One of them hangs in its first
// callback until the other has all updates; then the live heap of the process is measured.
// Afterwards the stalled handler processes its backlog and must receive what the subject promises:
// the final state by a consistent history if it merges events, else all updates.
func stalledScenario(name string, subject DispatchSubject) bench.Scenario {
	return bench.Scenario{Name: name, Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
		n := effort.Of(100_000, 20_000)
		hang := make(chan struct{})
		release := sync.OnceFunc(func() { close(hang) })
		work := func() { <-hang }
		w, err := newWorld(subject, &DispatchConfig{Handlers: 2, Objects: 1}, watchBuffer, func(handler *witness) {
			handler.work, work = work, nil // the first handler's
		})
		if err != nil {
			return bench.Outcome{}, err
		}
		defer w.informer.Stop()
		defer release()
		stalled, healthy := w.witnesses[0], w.witnesses[1]
		w.once = make([]onceEvent, n)
		for i := 0; i < n && ctx.Err() == nil; i++ {
			state, err := w.informer.Decode(w.document(0, w.stateCount()+i))
			if err != nil {
				return bench.Outcome{}, err
			}
			w.sendOnce(i, 0, state)
		}
		w.send(w.mark())
		if err := await(ctx, healthy.marked); err != nil {
			return bench.Outcome{}, err
		}
		live := bench.LiveHeap()
		release()
		if err := await(ctx, stalled.marked); err != nil {
			return bench.Outcome{}, err
		}
		delivered := "all of them, in order, each from the one before"
		if w.merges {
			delivered = "their final state"
		}
		return bench.Outcome{
			Figures: map[string]float64{"live MiB": float64(live) / (1 << 20)},
			Proof: fmt.Sprintf("%d updates of one object; a handler that hung received %s, and so did one that did not",
				n, delivered),
		}, w.verify()
	}}
}
