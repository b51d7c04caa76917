package demo

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/story"
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
	teller, set := on.Teller, on.Gears
	_ = enter("before the stall", "both loops run; each pass takes 2 ms, and one will take 1 s (artificial)")(on, ctx)
	closed, open := newHarness(teller, "closed", set), newHarness(teller, "open", set)
	both := []*harness{closed, open}
	var loops, workers wait.Group
	for _, h := range both {
		workers.StartWithContext(ctx, h.work)
	}
	loops.StartWithContext(ctx, closed.keepStep)
	loops.StartWithContext(ctx, open.keepTime)
	_ = wait.Sleep(ctx, eventEvery/2) // from here on, between two events
	for second := 1; second <= int(measured.Seconds()); second++ {
		if second == 3 {
			_ = enter("the stall and after it", "each worker stalls once, for 1 s")(on, ctx)
			for _, h := range both {
				h.stalls.Store(true)
			}
		}
		if wait.Sleep(ctx, time.Second) != nil {
			break
		}
		teller.Update(func(s *story.State) {
			s.Tell(story.Demo, "second %d: closed %s; open %s", second, closed.inSecond(), open.inSecond())
		})
	}
	loops.Wait()
	err := soon("the end of all events", func(*story.State) bool {
		return closed.done == closed.added && open.done == open.added
	})(on, ctx)
	for _, h := range both {
		h.queue.ShutDown()
	}
	workers.Wait()
	if err != nil {
		return err
	}
	teller.Update(func(s *story.State) {
		for _, h := range both {
			s.Figure(h.name+" loop", "%s", h.latencies())
		}
		if open.slow <= closed.slow {
			err = fmt.Errorf("the open loop reports %d latencies above %v, the closed loop %d", open.slow, slow, closed.slow)
		}
	})
	return err
}

// harness measures the latencies of one queue.
type harness struct {
	teller *story.Teller
	name   string
	queue  queue.Interface[string]
	stalls atomic.Bool // the next pass takes stallTime

	// Guarded by the teller's lock.
	due         map[string]time.Time // when each unfinished key was due
	added, done int
	latency     bench.Histogram
	slow        int
	second      bench.Histogram // the latencies since the last call of inSecond
}

func newHarness(teller *story.Teller, name string, set gears.Set) *harness {
	h := &harness{teller: teller, name: name, queue: set.NewQueue(nil, queue.Config[string]{}), due: map[string]time.Time{}}
	teller.Update(h.show)
	return h
}

// keepStep is a closed loop: the next event waits for the one before.
func (h *harness) keepStep(ctx context.Context) {
	for began := time.Now(); time.Since(began) < measured && ctx.Err() == nil; {
		next := time.Now().Add(eventEvery)
		h.add(time.Now())
		_ = h.teller.Await(ctx, func(*story.State) bool { return h.done == h.added })
		_ = wait.Sleep(ctx, time.Until(next))
	}
}

// keepTime is an open loop: each event is added when it is due.
func (h *harness) keepTime(ctx context.Context) {
	began := time.Now()
	for due := began; due.Sub(began) < measured; due = due.Add(eventEvery) {
		if wait.Sleep(ctx, time.Until(due)) != nil {
			return
		}
		h.add(due)
	}
}

// add adds a key of its own for the event.
func (h *harness) add(due time.Time) {
	key := ""
	h.teller.Update(func(s *story.State) {
		h.added++
		key = fmt.Sprintf("event-%d", h.added)
		h.due[key] = due
		h.show(s)
	})
	h.queue.Add(key)
}

// work is the worker.
func (h *harness) work(ctx context.Context) {
	for {
		key, shutdown := h.queue.Get()
		if shutdown {
			return
		}
		if h.stalls.CompareAndSwap(true, false) {
			_ = wait.Sleep(ctx, stallTime)
		}
		_ = wait.Sleep(ctx, passTime)
		h.queue.Done(key)
		h.teller.Update(func(s *story.State) { h.finished(s, key) })
	}
}

// finished records the latency of a key.
func (h *harness) finished(s *story.State, key string) {
	latency := time.Since(h.due[key])
	delete(h.due, key)
	h.done++
	h.latency.Record(latency)
	h.second.Record(latency)
	if latency > slow {
		h.slow++
	}
	h.show(s)
}

// show draws the latencies and the number of keys that are not done.
func (h *harness) show(s *story.State) {
	const width, most = 40, 120
	s.Show(h.name+" loop", "%s", h.latencies())
	s.Show(h.name+", not done", "%s %d", story.Bar(h.added-h.done, most, width), h.added-h.done)
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
