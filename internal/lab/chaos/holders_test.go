package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"orrery/queue"
)

// holders checks with a queue's trace that no two workers hold the same key. Hooks of different
// goroutines may run out of order, so they are collected and then checked in the order of their
// numbers when the queue is idle.
type holders struct {
	mu         sync.Mutex // guards the fields below
	events     []held
	processing map[string]uint64 // key -> number of the event with which it was handed out
	wrong      []string
	gets       int
	// counted has the keys whose failures the rate limiter remembers.
	counted map[string]bool
}

// held records that a key was handed out or given back.
type held struct {
	key      string
	number   uint64
	got      bool
	unknown  bool // given back though no worker held it
	received time.Time
}

func newHolders() *holders {
	return &holders{processing: map[string]uint64{}, counted: map[string]bool{}}
}

func (h *holders) trace() *queue.Trace[string] {
	return &queue.Trace[string]{
		Got: func(e queue.Event[string],
			_ time.Duration) {
			h.record(held{key: e.Key, number: e.Seq, got: true})
		},
		Done:        func(e queue.Event[string], _ time.Duration) { h.record(held{key: e.Key, number: e.Seq}) },
		DoneUnknown: func(e queue.Event[string]) { h.record(held{key: e.Key, number: e.Seq, unknown: true}) },
		Retried:     func(key string, _ int, _ time.Duration) { h.count(key, true) },
		Forgotten:   func(key string) { h.count(key, false) },
	}
}

func (h *holders) record(e held) {
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

// violations checks the collected events. Call it when the queue is idle.
func (h *holders) violations() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.SortFunc(h.events, func(a, b held) int { return cmp.Compare(a.number, b.number) })
	for _, e := range h.events {
		since, holds := h.processing[e.key]
		switch {
		case e.unknown:
			h.wrong = append(h.wrong, fmt.Sprintf("queue: %s was given back (event %d) though no worker held it", e.key,
				e.number))
		case e.got && holds:
			h.wrong = append(h.wrong,
				fmt.Sprintf("queue: %s was handed out (event %d) though a worker had had it since event %d", e.key,
					e.number, since))
		case e.got:
			h.gets++
			h.processing[e.key] = e.number
		default:
			delete(h.processing, e.key)
		}
	}
	h.events = h.events[:0]
	return slices.Clone(h.wrong)
}

// remembered returns the keys whose failures the rate limiter still counts.
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
