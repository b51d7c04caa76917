// Package faults makes the API server misbehave on demand. The server asks a [Set] of faults at
// the points where a real server fails:
//
//	request ──▶ Authorize ──▶ Before ──▶ Admit, Conflict ──▶ store
//	            403           429, 500,  403, 500, 409
//	                          503, delay
//	list, get ─▶ Lag              a stale answer
//	next page ─▶ ExpiresContinue  410
//	watch ─────▶ Silent           an open connection without events
//	             Holds, Withholds, Interrupts, Repeats   late, missing, incomplete and repeated events
//	discovery ─▶ Unavailable, Outdated   groups that are announced and stale
//	objects ───▶ Unconverted, Unreadable   500
//
// A fault is a line of text, kind:option=value,..., the same for --fault, the debug endpoint and
// tests; [Catalogue] has the kinds and [Set.Add] parses them. Random choices are seeded, so the
// same faults and requests give the same results. Errors have the code, reason and message of
// kube-apiserver. Repeated actions run on timers, which [Set.Stop] ends.
package faults

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Set holds the active faults. Create one with [New]. It is safe for concurrent use.
type Set struct {
	mu       sync.Mutex
	faults   []*fault                 // guarded by mu; oldest first; expired faults are removed on access
	made     map[string]int           // guarded by mu; number of each kind, for IDs
	actions  map[string]func(Options) // guarded by mu; the functions of On
	running  sync.WaitGroup           // actions started by timers; added to under mu
	finished bool                     // guarded by mu; Stop was called
	objects  Objects                  // guarded by mu; nil before Look

	// some reports whether faults has entries. It spares watches the lock when there are none.
	some atomic.Bool // written under mu
}

func New() *Set {
	return &Set{made: map[string]int{}, actions: map[string]func(Options){}}
}

// Add adds a fault. An action (compact, cut-watches) runs immediately on the caller's goroutine;
// its ID matters only if it repeats. Errors are *SyntaxError.
func (s *Set) Add(text string) (id string, err error) {
	f, err := build(text, time.Now())
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	s.made[f.kind]++
	f.id = fmt.Sprintf("%s-%d", f.kind, s.made[f.kind])
	if s.finished {
		s.mu.Unlock()
		return f.id, nil
	}
	if !f.action {
		s.addLocked(f)
		s.mu.Unlock()
		return f.id, nil
	}
	act := s.actLocked(f)
	if f.every > 0 && !f.overLocked(time.Now()) {
		s.addLocked(f)
		f.timer = time.AfterFunc(f.every, func() { s.again(f) })
	}
	s.mu.Unlock()
	act()
	return f.id, nil
}

// actLocked counts the action and returns its function.
func (s *Set) actLocked(f *fault) func() {
	if !f.appliesLocked(s.objects) {
		return func() {}
	}
	f.hits++
	act := s.actions[f.kind]
	return func() {
		if act != nil {
			act(f.options)
		}
	}
}

// again runs a repeated action and resets its timer.
func (s *Set) again(f *fault) {
	s.mu.Lock()
	if !slices.Contains(s.faults, f) || f.overLocked(time.Now()) {
		s.mu.Unlock()
		return
	}
	act := s.actLocked(f)
	s.running.Add(1)
	f.timer.Reset(f.every)
	s.mu.Unlock()
	defer s.running.Done()
	act()
}

// Remove removes a fault and reports whether it was active. Requests that it delays continue.
func (s *Set) Remove(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidyLocked(time.Now())
	at := slices.IndexFunc(s.faults, func(f *fault) bool { return f.id == id })
	if at < 0 {
		return false
	}
	s.faults[at].stopLocked()
	close(s.faults[at].removed)
	s.faults = slices.Delete(s.faults, at, at+1)
	s.some.Store(len(s.faults) > 0)
	return true
}

// List returns the active faults, oldest first.
func (s *Set) List() []Active {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidyLocked(time.Now())
	list := make([]Active, 0, len(s.faults))
	for _, f := range s.faults {
		list = append(list, Active{ID: f.id, Kind: f.kind, Text: f.text, Hits: f.hits, Left: f.left(), Until: f.until})
	}
	return list
}

// On sets the function of an action. The server calls it for [Compact], [CutWatches] and
// [KeepsCreating], before faults are added. f may be called concurrently and must not wait for
// Stop.
func (s *Set) On(action string, f func(Options)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actions[action] = f
}

// Look makes the conditions of faults depend on objects. Before that, all faults apply. The
// methods of objects are called with a lock held and must not call the set.
func (s *Set) Look(objects Objects) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects = objects
}

// Stop removes all faults and returns when no action is running. Faults added later have no
// effect.
func (s *Set) Stop() {
	s.mu.Lock()
	s.finished = true
	for _, f := range s.faults {
		f.stopLocked()
		close(f.removed)
	}
	s.faults = nil
	s.some.Store(false)
	s.mu.Unlock()
	s.running.Wait()
}

// tidyLocked removes expired faults.
func (s *Set) tidyLocked(now time.Time) {
	s.faults = slices.DeleteFunc(s.faults, func(f *fault) bool {
		over := f.overLocked(now)
		if over {
			f.stopLocked()
		}
		return over
	})
	s.some.Store(len(s.faults) > 0)
}

func (s *Set) addLocked(f *fault) {
	s.faults = append(s.faults, f)
	s.some.Store(true)
}

func (f *fault) stopLocked() {
	if f.timer != nil {
		f.timer.Stop()
	}
}

type Active struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Text is the order.
	Text string `json:"text"`
	// Hits is how often it has struck.
	Hits int `json:"hits"`
	// Left is how often it may still strike; -1 means no limit.
	Left int `json:"left"`
	// Until is when it ends; zero means never.
	Until time.Time `json:"until,omitzero"`
}
