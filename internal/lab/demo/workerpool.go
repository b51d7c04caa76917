package demo

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/story"
	"orrery/queue"
	"orrery/wait"
)

const (
	period      = time.Second
	shortRun    = 300 * time.Millisecond
	longRun     = 1600 * time.Millisecond // of the run longNumber
	longNumber  = 3
	shownFor    = 8200 * time.Millisecond // how long the three loops are watched
	poolKeys    = 15
	poolWorkers = 3
	poisoned    = "bad" // the key whose pass panics
)

var workersInPool = Scene{
	Name:    "worker-pool",
	workers: poolWorkers,
	Options: Options{Bare: true, Alone: true},
	play:    script(playPeriods, playPanic),
}

// playPeriods watches three loops.
func playPeriods(on *Stage, ctx context.Context) error {
	_ = enter("three loops", "three loops with a period of 1 s run for 8 s; a run takes 300 ms, "+
		"run 3 takes 1.6 s (artificial)")(on, ctx)
	lines := newTimeLines(on.Teller, "sliding", "not sliding", "with jitter")
	running, stop := context.WithTimeout(ctx, shownFor)
	defer stop()
	start := func(line *timeLine, jitter float64, sliding bool) func() {
		run := func(ctx context.Context) {
			line.record(func(number int) {
				line.tellStart(number)
				took := shortRun
				if number == longNumber {
					took = longRun
				}
				_ = wait.Sleep(ctx, took)
			})
		}
		return func() { wait.JitterUntilWithContext(running, run, period, jitter, sliding) }
	}
	var loops wait.Group
	loops.Start(start(lines[0], 0, true))
	loops.Start(start(lines[1], 0, false))
	loops.Start(start(lines[2], 0.5, true))
	loops.Start(func() { drawTimeLines(running, lines) })
	loops.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err := cmp.Or(lines[0].conclude(true), lines[1].conclude(false), lines[2].conclude(true))
	return cmp.Or(err, wait.Sleep(ctx, look))
}

// tellStart tells when a run has started.
func (l *timeLine) tellStart(number int) {
	if number == 1 {
		return
	}
	l.teller.Update(func(s *story.State) {
		last, run := l.runs[number-2], l.runs[number-1]
		s.Tell(story.Worker, "%s: run %d starts %.1f s after the start and %.1f s after the end of run %d",
			l.name, number, (run.from - last.from).Seconds(), (run.from - last.to).Seconds(), number-1)
	})
}

// conclude shows the figures. It fails if a run began too early.
func (l *timeLine) conclude(sliding bool) (err error) {
	l.teller.Update(func(s *story.State) {
		var starts []string
		for n, run := range l.runs {
			starts = append(starts, fmt.Sprintf("%.1f", (run.from-l.began).Seconds()))
			earliest := l.began + time.Duration(n)*period
			if sliding && n > 0 {
				earliest = l.runs[n-1].to + period
			}
			if run.from < earliest {
				err = cmp.Or(err, fmt.Errorf("%s: run %d started %v too early", l.name, n+1, earliest-run.from))
			}
		}
		s.Figure(l.name, "%d runs, started at %s s", len(l.runs), strings.Join(starts, ", "))
	})
	return err
}

// playPanic runs a pool of workers, of which one panics.
func playPanic(on *Stage, ctx context.Context) error {
	_ = enter("a pool of workers", "each worker is a loop with a period of 1 s; the pass over "+poisoned+
		" panics (artificial), any other takes 400 ms")(on, ctx)
	teller, keys := on.Teller, on.Gears.NewQueue(nil, queue.Config[string]{})
	lines := newTimeLines(teller, "worker 1", "worker 2", "worker 3")
	passes, panics, alive := 0, 0, 0 // guarded by the teller's lock; alive are the workers in a run
	defer wait.PanicHandlers.Replace(func(_ context.Context, cause *wait.Panic) {
		teller.Update(func(s *story.State) {
			panics++
			s.Tell(story.Worker, "HandleCrash has recovered the panic %q; the other %d workers go on",
				cause.Value, alive)
		})
	})()
	defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false)) // as in a program that survives panics
	pass := func(ctx context.Context, worker, key string) {
		defer keys.Done(key)
		if key == poisoned {
			panic(worker + " cannot process " + key)
		}
		_ = wait.Sleep(ctx, 400*time.Millisecond)
		teller.Update(func(*story.State) { passes++ })
	}
	// work is one run of a worker's loop: it processes keys until the shutdown, or until a panic.
	work := func(ctx context.Context, worker string, run int) {
		teller.Update(func(s *story.State) {
			alive++
			if run > 1 {
				s.Tell(story.Worker, "%s is back: its loop has begun run %d", worker, run)
			}
		})
		defer teller.Update(func(*story.State) { alive-- })
		for key, shutdown := keys.Get(); !shutdown; key, shutdown = keys.Get() {
			pass(ctx, worker, key)
		}
	}
	working, cancel := context.WithCancel(ctx)
	var workers wait.Group
	for _, line := range lines {
		workers.Start(func() {
			wait.UntilWithContext(working, func(ctx context.Context) {
				line.record(func(run int) { work(ctx, line.name, run) })
			}, period)
		})
	}
	workers.Start(func() { drawTimeLines(working, lines) })
	defer workers.Wait()
	defer keys.ShutDown()
	defer cancel()
	for i := range poolKeys {
		if i == 3 {
			keys.Add(poisoned)
		}
		keys.Add(fmt.Sprintf("team-%d", i+1))
	}
	return script(
		soon("all passes, and all workers back", func(*story.State) bool {
			return passes == poolKeys && alive == len(lines)
		}),
		pause(look),
		conclude(func(_ *Stage, s *story.State) error {
			runs := 0
			for _, line := range lines {
				runs += len(line.runs)
			}
			s.Figure("pool", "%d passes and %d panic; %d workers, whose loops made %d runs",
				passes, panics, len(lines), runs)
			return cmp.Or(
				bench.Prove("panics", 1, panics),
				bench.Prove("passes", poolKeys, passes),
				bench.Prove("runs of the workers' loops", len(lines)+1, runs),
			)
		}),
	)(on, ctx)
}

// timeLine shows the runs of one loop in a row of the panel.
type timeLine struct {
	teller *story.Teller
	name   string
	began  time.Duration // the time of the first column

	runs []timeSpan // guarded by the teller's lock
}

// timeSpan is one run. While it runs, to is 0.
type timeSpan struct{ from, to time.Duration }

// newTimeLines returns time lines that begin now.
func newTimeLines(teller *story.Teller, names ...string) []*timeLine {
	var lines []*timeLine
	for _, name := range names {
		lines = append(lines, &timeLine{teller: teller, name: name, began: teller.State().Elapsed})
	}
	return lines
}

// drawTimeLines draws the lines again and again until ctx ends.
func drawTimeLines(ctx context.Context, lines []*timeLine) {
	for wait.Sleep(ctx, timeColumn/2) == nil {
		for _, line := range lines {
			line.teller.Update(line.show)
		}
	}
}

// record calls run and records when it starts and ends; number counts the runs from 1. It lets a
// panic pass.
func (l *timeLine) record(run func(number int)) {
	number := 0
	l.teller.Update(func(s *story.State) {
		l.runs = append(l.runs, timeSpan{from: s.Elapsed})
		number = len(l.runs)
	})
	defer l.teller.Update(func(s *story.State) { l.runs[number-1].to = s.Elapsed })
	run(number)
}

// The columns of a time line.
const (
	timeColumn  = 150 * time.Millisecond
	timeColumns = 56
)

// show draws the line until now: "1" is the start of run 1, "█" a column in which a run runs.
func (l *timeLine) show(s *story.State) {
	var text strings.Builder
	for i := range timeColumns {
		at := l.began + time.Duration(i)*timeColumn
		if at > s.Elapsed {
			break
		}
		mark := "░"
		for n, run := range l.runs {
			switch {
			case run.from >= at && run.from < at+timeColumn:
				mark = string(rune('0' + (n+1)%10))
			case run.from < at && (run.to == 0 || run.to > at):
				mark = "█"
			}
		}
		text.WriteString(mark)
	}
	s.Show(l.name, "%s", text.String())
}
