package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"orrery/queue"
)

// holders checks by the trace of a queue that a key is never at two workers. The hooks of different goroutines may run in
// another order than the events happened in, so they are collected, and judged in the order of their numbers when nothing is
// under way.
type holders struct {
	mu      sync.Mutex // guards all below
	events  []held
	holding map[string]uint64 // key -> number of the event with which it was handed out
	wrong   []string
	gets    int
	// counted are the keys that the rate limiter remembers failures of.
	counted map[string]bool
}

// held is a key being handed out or given back.
type held struct {
	key      string
	number   uint64
	got      bool
	unknown  bool // given back though nobody had it
	received time.Time
}

func newHolders() *holders {
	return &holders{holding: map[string]uint64{}, counted: map[string]bool{}}
}

func (h *holders) trace() *queue.Trace[string] {
	return &queue.Trace[string]{
		Got:         func(e queue.Event[string], _ time.Duration) { h.note(held{key: e.Key, number: e.Seq, got: true}) },
		Done:        func(e queue.Event[string], _ time.Duration) { h.note(held{key: e.Key, number: e.Seq}) },
		DoneUnknown: func(e queue.Event[string]) { h.note(held{key: e.Key, number: e.Seq, unknown: true}) },
		Retried:     func(key string, _ int, _ time.Duration) { h.count(key, true) },
		Forgotten:   func(key string) { h.count(key, false) },
	}
}

func (h *holders) note(e held) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.received = time.Now()
	h.events = append(h.events, e)
}

func (h *holders) count(key string, fails bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if fails {
		h.counted[key] = true
	} else {
		delete(h.counted, key)
	}
}

// violations judges what was collected. Call it when nothing is under way.
func (h *holders) violations() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.SortFunc(h.events, func(a, b held) int { return cmp.Compare(a.number, b.number) })
	for _, e := range h.events {
		since, holds := h.holding[e.key]
		switch {
		case e.unknown:
			h.wrong = append(h.wrong, fmt.Sprintf("queue: %s was given back (event %d) though no worker had it", e.key, e.number))
		case e.got && holds:
			h.wrong = append(h.wrong, fmt.Sprintf("queue: %s was handed out (event %d) though a worker had had it since event %d", e.key, e.number, since))
		case e.got:
			h.gets++
			h.holding[e.key] = e.number
		default:
			delete(h.holding, e.key)
		}
	}
	h.events = h.events[:0]
	return slices.Clone(h.wrong)
}

// remembered returns the keys of which the rate limiter still counts failures.
func (h *holders) remembered() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var keys []string
	for key := range h.counted {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
