package demo

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"orrery/internal/lab/bench"
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
	play: script(
		enter("three loops with a period of 1 s run for 8 s; a run takes 300 ms, "+
			"run 3 takes 1.6 s (artificial)"),
		playPeriods,
		pause(look),
		enter("each worker is a loop with a period of 1 s; the pass over "+poisoned+
			" panics (artificial), any other takes 400 ms"),
		playPanic,
	),
}

// playPeriods watches three loops. It fails if a run begins too early.
func playPeriods(on *Stage, ctx context.Context) error {
	running, stop := context.WithTimeout(ctx, shownFor)
	defer stop()
	run := func(line *timeLine, number int) {
		took := shortRun
		if number == longNumber {
			took = longRun
		}
		if number > 1 {
			on.Update(line.tellStart)
		}
		_ = wait.Sleep(running, took)
	}
	var loops wait.Group
	lines := startLoops(running, on.Teller, &loops, run, func(i int, run func(context.Context)) {
		wait.JitterUntilWithContext(running, run, period, []float64{0, 0, 0.5}[i], i != 1)
	}, "sliding", "not sliding", "with jitter")
	loops.Wait()
	err := ctx.Err()
	on.Update(func(s *State) {
		for i, line := range lines {
			err = cmp.Or(err, line.measure(s, i != 1))
		}
	})
	return err
}

// playPanic runs a pool of workers, of which one panics.
func playPanic(on *Stage, ctx context.Context) error {
	teller, keys := on.Teller, on.Gears.NewQueue(nil, queue.Config[string]{})
	passes, panics, alive := 0, 0, 0 // guarded by the teller's lock; alive are the workers in a run
	defer wait.PanicHandlers.Replace(func(_ context.Context, cause *wait.Panic) {
		teller.Update(func(s *State) {
			panics++
			s.Tell(Worker, "HandleCrash has recovered the panic %q; the other %d workers go on",
				cause.Value, alive)
		})
	})()
	defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false)) // as in a program that survives panics
	working, cancel := context.WithCancel(ctx)
	pass := func(worker, key string) {
		defer keys.Done(key)
		if key == poisoned {
			panic(worker + " cannot process " + key)
		}
		_ = wait.Sleep(working, 400*time.Millisecond)
		teller.Update(func(*State) { passes++ })
	}
	// work is one run of a worker's loop: it processes keys until the shutdown, or until a panic.
	work := func(line *timeLine, run int) {
		teller.Update(func(s *State) {
			alive++
			if run > 1 {
				s.Tell(Worker, "%s is back: its loop has begun run %d", line.name, run)
			}
		})
		defer teller.Update(func(*State) { alive-- })
		for key, shutdown := keys.Get(); !shutdown; key, shutdown = keys.Get() {
			pass(line.name, key)
		}
	}
	var workers wait.Group
	lines := startLoops(working, teller, &workers, work, func(_ int, run func(context.Context)) {
		wait.UntilWithContext(working, run, period)
	}, "worker 1", "worker 2", "worker 3")
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
		soon("all passes, and all workers back", func(*State) bool {
			return passes == poolKeys && alive == len(lines)
		}),
		pause(look),
		conclude(func(_ *Stage, s *State) error {
			runs := 0
			for _, line := range lines {
				runs += len(line.runs)
			}
			s.Figure("pool", "%d passes and %d panic; %d workers, whose loops made %d runs",
				passes, panics, len(lines), runs)
			return cmp.Or(
				bench.Prove("panics", 1, panics),
				bench.Prove("runs of the workers' loops", len(lines)+1, runs),
			)
		}),
	)(on, ctx)
}

// timeLine shows the runs of one loop in a row of the panel.
type timeLine struct {
	name  string
	began time.Duration // the time of the first column
	runs  []timeSpan    // guarded by the teller's lock
}

// timeSpan is one run. While it runs, to is 0.
type timeSpan struct{ from, to time.Duration }

// The columns of a time line.
const (
	timeColumn  = 150 * time.Millisecond
	timeColumns = 56
)

// startLoops starts a loop for each name, which calls run again and again, and draws the time lines
// until ctx ends. number counts the runs of a loop from 1.
func startLoops(
	ctx context.Context, teller *Teller, group *wait.Group, run func(line *timeLine, number int),
	loop func(i int, run func(context.Context)), names ...string,
) (lines []*timeLine) {
	for i, name := range names {
		line := &timeLine{name: name, began: teller.State().Elapsed}
		lines = append(lines, line)
		recorded := func(context.Context) {
			number := 0
			teller.Update(func(s *State) {
				line.runs = append(line.runs, timeSpan{from: s.Elapsed})
				number = len(line.runs)
			})
			defer teller.Update(func(s *State) { line.runs[number-1].to = s.Elapsed }) // after a panic, too
			run(line, number)
		}
		group.Start(func() { loop(i, recorded) })
	}
	group.Start(func() {
		for wait.Sleep(ctx, timeColumn/2) == nil {
			for _, line := range lines {
				teller.Update(line.show)
			}
		}
	})
	return lines
}

// tellStart tells when the last run has started.
func (l *timeLine) tellStart(s *State) {
	number := len(l.runs)
	last, run := l.runs[number-2], l.runs[number-1]
	s.Tell(Worker, "%s: run %d starts %.1f s after the start and %.1f s after the end of run %d",
		l.name, number, (run.from - last.from).Seconds(), (run.from - last.to).Seconds(), number-1)
}

// measure shows when the runs have started. It fails if one of them began too early.
func (l *timeLine) measure(s *State, sliding bool) (err error) {
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
	return err
}

// show draws the line until now: "1" is the start of run 1, "█" a column in which a run runs.
func (l *timeLine) show(s *State) {
	columns := int((s.Elapsed-l.began)/timeColumn) + 1
	text := []rune(strings.Repeat("░", min(columns, timeColumns)))
	column := func(at time.Duration) int { return min(int((at-l.began)/timeColumn), len(text)-1) }
	for n, run := range l.runs {
		for i := column(run.from); i <= column(cmp.Or(run.to, s.Elapsed)-1); i++ {
			text[i] = '█'
		}
		text[column(run.from)] = rune('0' + (n+1)%10)
	}
	s.Show(l.name, "%s", string(text))
}
