package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"orrery/internal/lab/chaos"
)

// run plays all seeds, says what came of them, and tells whether all went well.
func run(ctx context.Context, o options, out io.Writer) bool {
	fmt.Fprintf(out, "chaos: %d seeds from seed=%d on, each with storms of %s of virtual time, in %d processes\n"+
		"  a seed decides who takes part and what breaks when; after each storm everything has to be again as the server has it\n",
		o.seeds, o.seed, o.duration, o.workers)
	s := &summary{begun: time.Now(), options: o, out: out}
	stopProgress := s.progress()
	seeds := make(chan uint64)
	go func() {
		defer close(seeds)
		for i := range uint64(o.seeds) {
			select {
			case seeds <- o.seed + i:
			case <-ctx.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	for range min(o.workers, o.seeds) {
		workers.Go(func() {
			if err := playAll(ctx, o, seeds, s); err != nil {
				s.broken(err)
			}
		})
	}
	workers.Wait()
	stopProgress()
	return s.print() && ctx.Err() == nil
}

// playAll plays seeds with one worker, and a new one for each that dies.
func playAll(ctx context.Context, o options, seeds <-chan uint64, s *summary) error {
	var p *process
	defer func() {
		if p != nil {
			p.end()
		}
	}()
	for seed := range seeds {
		if p == nil {
			var err error
			if p, err = startProcess(o.duration); err != nil {
				return err
			}
		}
		report, alive := p.play(ctx, seed)
		if !alive {
			p = nil
		}
		if ctx.Err() != nil {
			return nil
		}
		s.add(report)
		if report.Failure != nil {
			s.explain(report, again(ctx, o, seed))
		}
	}
	return nil
}

// attempts is how often a seed is played again that has failed.
const attempts = 5

// again plays a seed again that has failed, each time in a new process, and says how often it failed again. The plan is the same; the
// order of goroutines, maps and jitter is not.
func again(ctx context.Context, o options, seed uint64) string {
	failed := 0
	for range attempts {
		p, err := startProcess(o.duration)
		if err != nil {
			return err.Error()
		}
		report, alive := p.play(ctx, seed)
		if alive {
			p.end()
		}
		if report.Failure != nil {
			failed++
		}
	}
	return fmt.Sprintf("played again it failed %d times of %d", failed, attempts)
}

// explain prints a failure; the whole of it goes into a file.
func (s *summary) explain(r *chaos.Report, how string) {
	text := r.Failure.Explain(chaos.NewPlan(r.Seed, s.options.duration))
	file := filepath.Join(s.options.failures, fmt.Sprintf("seed-%d.txt", r.Seed))
	err := os.MkdirAll(s.options.failures, 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		file = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "\nFAILED seed=%d, %s\n%s", r.Seed, how, shortened(text))
	fmt.Fprintf(s.out, "in full: %s\nplay it again: make chaos-virtual SEED=%d DURATION=%s\n\n", file, r.Seed, s.options.duration)
}

// shownLines is how much of a failure is printed: what was wrong, and the last steps before it was noticed.
const shownLines = 120

func shortened(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= shownLines {
		return text
	}
	left := len(lines) - shownLines
	kept := append([]string{}, lines[:shownLines/3]...)
	kept = append(kept, fmt.Sprintf("  ... %d lines ...\n", left))
	kept = append(kept, lines[len(lines)-2*shownLines/3:]...)
	for i, line := range kept {
		if len(line) > shownColumns {
			kept[i] = line[:shownColumns] + " ...\n"
		}
	}
	return strings.Join(kept, "")
}

const shownColumns = 1000
