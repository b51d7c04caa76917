package bench

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"
)

// Driver runs a benchmark in two phases. In the first the gear gets as many events as it takes, for
// throughput and cost; in the second it gets them at a steady rate, for latencies. Without a rate
// there is no second phase.
type Driver struct {
	Load
	Meter *Meter
	// Event is what an event is called: "key". Handled is the name of the throughput: "processed".
	Event, Handled string
	// Phase puts the load of a phase on the gear, measures it and proves the result.
	Phase func(ctx context.Context, p *Phase) error
}

// Phase is one of the two phases, or a fixed piece of work, and its result.
type Phase struct {
	Driver
	// Events is how many are due in the second phase, or are the work. In the first phase it is 0:
	// as many as the time allows.
	Events int

	// The result. In the first phase these are the events that the gear has handled, with their
	// cost and further figures; in the second the latencies. Proof says what was checked.
	Done    int
	Usage   Usage
	More    []Figure
	Latency Histogram
	Proof   string

	start time.Time
	pacer *Pacer
}

// Run runs both phases.
func (d Driver) Run(ctx context.Context) (*Result, error) {
	full := &Phase{Driver: d}
	d.Meter.Begin("as fast as possible")
	if err := d.Phase(ctx, full); err != nil {
		return nil, err
	}
	done := float64(max(full.Done, 1))
	each := func(name, unit string, sum float64) Figure {
		return Figure{Name: name + " per " + d.Event, Unit: unit, Value: sum / done, Better: Lower}
	}
	figures := append([]Figure{perSecond(d.Handled, float64(full.Done)/full.Usage.Elapsed.Seconds())}, full.More...)
	result := &Result{
		Figures: append(figures,
			each("CPU", Nanoseconds, float64(full.Usage.CPU)),
			each("allocations", Count, float64(full.Usage.Allocs)),
			each("allocated", Bytes, float64(full.Usage.Bytes))),
		Proof: []string{"as fast as possible: " + full.Proof},
	}
	if d.Rate == 0 {
		return result, nil
	}
	paced := &Phase{Driver: d, Events: max(1, int(d.Rate*d.Duration.Seconds()))}
	name := fmt.Sprintf("%.0f %ss a second", d.Rate, d.Event)
	d.Meter.Begin(name)
	if err := d.Phase(ctx, paced); err != nil {
		return nil, err
	}
	result.Figures = append(result.Figures, perSecond("rate for latency", d.Rate))
	result.Latency = &paced.Latency
	result.Proof = append(result.Proof, "at "+name+": "+paced.Proof)
	return result, nil
}

// fixedLimit bounds a fixed piece of work. Only a gear that lost an event exceeds it, however busy
// the machine is.
const fixedLimit = 2 * time.Minute

// Fixed runs a phase of n events, as fast as possible, after one of a tenth of them that warms up.
func Fixed(ctx context.Context, n int, phase func(ctx context.Context, p *Phase) error) (*Phase, error) {
	driver := Driver{Load: Load{Duration: fixedLimit}}
	if err := phase(ctx, &Phase{Driver: driver, Events: n / 10}); err != nil {
		return nil, err
	}
	runtime.GC() // of the warm-up
	p := &Phase{Driver: driver, Events: n}
	return p, cmp.Or(phase(ctx, p), Prove("events", n, p.Done))
}

func perSecond(name string, value float64) Figure {
	return Figure{Name: name, Unit: PerSecond, Value: value, Better: Higher}
}

// Also adds a figure: how many of something else there were per second.
func (p *Phase) Also(name string, n int) {
	p.More = append(p.More, perSecond(name, float64(n)/p.Usage.Elapsed.Seconds()))
}

// Paced reports whether this is the phase with a steady rate.
func (p *Phase) Paced() bool { return p.Events > 0 && p.Rate > 0 }

// Fixed reports whether this is a fixed piece of work.
func (p *Phase) Fixed() bool { return p.Events > 0 && p.Rate == 0 }

// Begin starts the clock of the phase. The gear must be ready.
func (p *Phase) Begin() {
	p.start = time.Now()
	if p.Paced() {
		p.pacer = NewPacer(p.start, p.Rate)
	}
}

// Late returns how long ago an event was due.
func (p *Phase) Late(event int) time.Duration { return time.Since(p.start) - p.pacer.Due(event) }

// Produce makes events until the time is up or all events were made: it draws keys and calls add.
// In the phase with a steady rate it calls add when the event is due, or at once if the event is
// late.
func (p *Phase) Produce(ctx context.Context, keys *Keys, add func(event, key int) error) error {
	picker := keys.Picker(0)
	for event := 0; p.more(ctx, event); event++ {
		if err := add(event, picker.Next()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// checked is the number of events between two checks of the clock and the context. A write may take
// a few hundred nanoseconds or 15 ms: the clock is read rarely enough for the former and often
// enough for the latter.
const checked = 8

// more waits until an event is due, and reports whether there is one. Without a rate there are a
// few events, however late the producer begins.
func (p *Phase) more(ctx context.Context, event int) bool {
	if p.Events > 0 && event >= p.Events {
		return false
	}
	if p.Paced() {
		_, ok := p.pacer.Wait(ctx, event)
		return ok
	}
	if event%checked != 0 || event == 0 {
		return true
	}
	return ctx.Err() == nil && time.Since(p.start) < p.Duration
}
