package faults

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Set holds the faults that are on. The zero value is not usable; use [New]. All methods may be called from any
// goroutine.
type Set struct {
	mu       sync.Mutex
	faults   []*fault          // guarded by mu; oldest first; those that are over go when somebody looks
	made     map[string]int    // guarded by mu; how many of each kind there were, for ids
	actions  map[string]func() // guarded by mu; what On said
	overdue  map[string]bool   // guarded by mu; actions ordered before On
	running  sync.WaitGroup    // actions that timers have begun; added to under mu
	finished bool              // guarded by mu; Stop was called

	// some is whether faults has entries. It spares a server without faults the lock: a watch asks at every event.
	some atomic.Bool // written under mu
}

// New returns a set without faults.
func New() *Set {
	return &Set{made: map[string]int{}, actions: map[string]func(){}, overdue: map[string]bool{}}
}

// Add switches a fault on. An action (compact, cut-watches) is carried out at once, by the caller's goroutine; its id is
// of use only if it is a repeated one. Errors are *SyntaxError.
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
	if !slices.Contains(Actions(), f.kind) {
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

// actLocked counts the action and returns what it consists in.
func (s *Set) actLocked(f *fault) func() {
	f.hits++
	if act := s.actions[f.kind]; act != nil {
		return act
	}
	s.overdue[f.kind] = true
	return func() {}
}

// again carries out a repeated action and winds up its clock.
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

// Remove switches a fault off and tells whether it was on. Requests that it holds up go on.
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

// List returns the faults that are on, oldest first.
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

// On says what an action does; the server calls it once for each of [Actions]. An action that was ordered earlier is
// carried out now. f may be called from several goroutines at once, and must not wait for the Set to be stopped.
func (s *Set) On(action string, f func()) {
	s.mu.Lock()
	s.actions[action] = f
	now := s.overdue[action]
	delete(s.overdue, action)
	s.mu.Unlock()
	if now {
		f()
	}
}

// Stop removes all faults, ends repeated actions, and returns when none of them is under way any more. Faults that are
// added afterwards do nothing.
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

// tidyLocked forgets the faults that are over.
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

// Active is a fault that is on.
type Active struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Text is the line that ordered it.
	Text string `json:"text"`
	// Hits is how often it has struck.
	Hits int `json:"hits"`
	// Left is how often it is still going to strike; -1 if that is not limited.
	Left int `json:"left"`
	// Until is when it ends; zero if it does not by itself.
	Until time.Time `json:"until,omitzero"`
}
