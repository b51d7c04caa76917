package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/lab/chaos"
)

// summary adds up reports.
type summary struct {
	// Immutable.
	begun   time.Time
	options options
	out     io.Writer

	mu      sync.Mutex // guards all below, and the printing
	sum     chaos.Report
	played  int
	failed  []uint64
	slowest uint64 // the seed whose calm took longest
	errs    []error
}

func (s *summary) add(r *chaos.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played++
	if r.Failure != nil {
		s.failed = append(s.failed, r.Seed)
	}
	s.sum.Virtual += r.Virtual
	if r.SlowestCalm > s.sum.SlowestCalm {
		s.sum.SlowestCalm, s.slowest = r.SlowestCalm, r.Seed
	}
	s.sum.Writes += r.Writes
	s.sum.Events += r.Events
	s.sum.Passes += r.Passes
	s.sum.Finalized += r.Finalized
	s.sum.Lists += r.Lists
	s.sum.Watches += r.Watches
	s.sum.Retries += r.Retries
	s.sum.Restarts += r.Restarts
	s.sum.Faults = added(s.sum.Faults, r.Faults)
}

func added(to, more map[string]int) map[string]int {
	if to == nil {
		to = map[string]int{}
	}
	for kind, count := range more {
		to[kind] += count
	}
	return to
}

// broken notes that seeds could not be played.
func (s *summary) broken(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

// progress prints a line now and then, until it is stopped.
func (s *summary) progress() (stop func()) {
	ended := make(chan struct{})
	var printing sync.WaitGroup
	printing.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.printProgress()
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		printing.Wait()
	}
}

const progressEvery = 15 * time.Second

func (s *summary) printProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "  %4.0fs  %d of %d seeds, %.1f virtual hours, %d writes, %d events, %d failed\n",
		time.Since(s.begun).Seconds(), s.played, s.options.seeds, s.sum.Virtual.Hours(), s.sum.Writes, s.sum.Events, len(s.failed))
}

// print prints the summary and tells whether all seeds were played and went well.
func (s *summary) print() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "chaos: %d seeds in %.0f s, %d virtual minutes\n", s.played, time.Since(s.begun).Seconds(), int(s.sum.Virtual.Minutes()))
	fmt.Fprintf(s.out, "  writes %d, events told to handlers %d, passes over namespaces %d, namespaces finalized %d\n",
		s.sum.Writes, s.sum.Events, s.sum.Passes, s.sum.Finalized)
	fmt.Fprintf(s.out, "  lists %d, watches %d, retries of requests %d\n", s.sum.Lists, s.sum.Watches, s.sum.Retries)
	fmt.Fprintf(s.out, "  slowest way back to rest: %s (seed=%d)\n", s.sum.SlowestCalm.Round(time.Second), s.slowest)
	fmt.Fprintf(s.out, "  faults: %s\n", counted(s.sum.Faults))
	for _, err := range s.errs {
		fmt.Fprintf(s.out, "  not played: %v\n", err)
	}
	slices.Sort(s.failed)
	switch {
	case len(s.failed) > 0:
		fmt.Fprintf(s.out, "FAILED: %d of %d seeds: %s\n", len(s.failed), s.played, strings.Trim(fmt.Sprint(s.failed), "[]"))
	case s.played < s.options.seeds:
		fmt.Fprintf(s.out, "stopped after %d of %d seeds\n", s.played, s.options.seeds)
	default:
		fmt.Fprintln(s.out, "all seeds passed")
	}
	return len(s.failed) == 0 && s.played == s.options.seeds
}

func counted(counts map[string]int) string {
	if len(counts) == 0 {
		return "0"
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, counts[kind]))
	}
	return strings.Join(parts, ", ")
}
