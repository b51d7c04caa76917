package demo

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
	"orrery/queue"
	"orrery/wait"
)

const (
	passTime   = 2 * time.Millisecond // of a worker for each key
	stallTime  = time.Second          // of one pass
	eventEvery = 10 * time.Millisecond
	measured   = 6 * time.Second
	slow       = 100 * time.Millisecond // latencies above are slow
)

var stalled = Scene{
	Name:    "stall",
	workers: 1, // each queue
	Options: Options{Bare: true, Alone: true},
	play:    playStall,
}

func playStall(on *Stage, ctx context.Context) error {
	closed, open := newHarness(on, "closed"), newHarness(on, "open")
	var loops, workers wait.Group
	for _, h := range []*harness{closed, open} {
		workers.StartWithContext(ctx, h.work)
		loops.StartWithContext(ctx, func(ctx context.Context) { h.load(ctx, h == open) })
	}
	defer workers.Wait()
	defer open.queue.ShutDown()
	defer closed.queue.ShutDown()
	defer loops.Wait()
	seconds := func(from, to int) step {
		var steps []step
		for second := from; second <= to; second++ {
			steps = append(steps, pause(time.Second), update(func(s *State) {
				s.Tell(Demo, "second %d: closed %s; open %s", second, closed.inSecond(), open.inSecond())
			}))
		}
		return script(steps...)
	}
	return script(
		enter("both loops run; each pass takes 2 ms, and one will take 1 s (artificial)"),
		pause(eventEvery/2), // from here on, between two events
		seconds(1, 2),
		enter("each worker stalls once, for 1 s"),
		do(func(*Stage) { closed.stalls.Store(true); open.stalls.Store(true) }),
		seconds(3, int(measured/time.Second)),
		soon("the end of all events", func(*State) bool {
			return closed.done == closed.added && open.done == open.added
		}),
		conclude(func(_ *Stage, s *State) error {
			s.Figure("closed loop", "%s", closed.latencies())
			s.Figure("open loop", "%s", open.latencies())
			return bench.Prove("the open loop reports more latencies above 100 ms", true, open.slow > closed.slow)
		}),
	)(on, ctx)
}

// harness measures the latencies of one queue.
type harness struct {
	teller *Teller
	name   string
	queue  queue.Interface[string]
	stalls atomic.Bool // the next pass takes stallTime

	// Guarded by the teller's lock.
	due               map[string]time.Time // when each unfinished key was due
	added, done, slow int
	latency, second   bench.Histogram // of all events, and of those since the last call of inSecond
}

func newHarness(on *Stage, name string) *harness {
	queue := on.Gears.NewQueue(nil, queue.Config[string]{})
	h := &harness{teller: on.Teller, name: name, queue: queue, due: map[string]time.Time{}}
	h.teller.Update(h.show)
	return h
}

// load adds a key of its own for each event. In an open loop an event is due at its time, whatever
// the queue does; in a closed loop it waits for the one before.
func (h *harness) load(ctx context.Context, open bool) {
	began := time.Now()
	for due := began; due.Sub(began) < measured; due = due.Add(eventEvery) {
		if wait.Sleep(ctx, time.Until(due)) != nil {
			return
		}
		if !open {
			due = time.Now()
		}
		key := ""
		h.teller.Update(func(s *State) {
			h.added++
			key = fmt.Sprintf("event-%d", h.added)
			h.due[key] = due
			h.show(s)
		})
		h.queue.Add(key)
		if !open {
			_ = h.teller.Await(ctx, func(*State) bool { return h.done == h.added })
		}
	}
}

// work is the worker.
func (h *harness) work(ctx context.Context) {
	for key, shutdown := h.queue.Get(); !shutdown; key, shutdown = h.queue.Get() {
		if h.stalls.CompareAndSwap(true, false) {
			_ = wait.Sleep(ctx, stallTime)
		}
		_ = wait.Sleep(ctx, passTime)
		h.queue.Done(key)
		h.teller.Update(func(s *State) {
			latency := time.Since(h.due[key])
			h.done++
			h.latency.Record(latency)
			h.second.Record(latency)
			if latency > slow {
				h.slow++
			}
			h.show(s)
		})
	}
}

// show draws the latencies and the number of keys that are not done.
func (h *harness) show(s *State) {
	const width, most = 40, 120
	s.Show(h.name+" loop", "%s", h.latencies())
	s.Show(h.name+", not done", "%s %d", Bar(h.added-h.done, most, width), h.added-h.done)
}

// latencies returns what the harness reports.
func (h *harness) latencies() string {
	return fmt.Sprintf("%d events, p50 %s, p99 %s, max %s, %d slow", h.done,
		millis(h.latency.Quantile(0.5)), millis(h.latency.Quantile(0.99)), millis(h.latency.Max()), h.slow)
}

// inSecond returns the number and the longest latency of the events since its last call.
func (h *harness) inSecond() string {
	second := h.second
	h.second = bench.Histogram{}
	if second.Count() == 0 {
		return "none done"
	}
	return fmt.Sprintf("%d done, slowest %s", second.Count(), millis(second.Max()))
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
}
