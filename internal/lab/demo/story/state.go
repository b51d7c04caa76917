package story

import (
	"maps"
	"slices"
	"time"
)

// State is how things stand in a demo.
type State struct {
	// Scene is the name of the scene, Happens says what is going to happen in it, and Look what to look at.
	Scene, Happens, Look string
	// Elapsed is the time since the demo began.
	Elapsed time.Duration
	// Now says what is going on, and why it takes as long as it does.
	Now string
	// Wait is what Now waits for, if that has a known end.
	Wait Wait
	// Over: the scene has ended.
	Over bool

	Namespace Namespace
	// Types are what the namespace contains, in the order in which they are shown.
	Types []Type
	Gears Gears
	// Lines are further bars that a scene shows, such as what waits for each handler.
	Lines []Type

	// Stages are what took time, in order. The last one is running unless the scene is over.
	Stages []Stage
	// Requests counts requests by who sent them and by verb.
	Requests map[Client]map[string]int

	Beats []Beat
}

// Namespace is the namespace of the story, as its informer knows it.
type Namespace struct {
	Name string
	// Phase is Active or Terminating; "" before it is there, and Gone afterwards.
	Phase string
	// Finalizers are those in spec.finalizers.
	Finalizers []string
	// Conditions are those that hold.
	Conditions []Condition
}

// Gone is the phase of a namespace that was there once.
const Gone = "gone"

// Condition is one that holds.
type Condition struct{ Type, Message string }

// Type is how many objects of one type there are: a bar.
type Type struct {
	Name string
	// Left is how many there are now, Most how many there ever were.
	Left, Most int
}

// Wait is a time that has to pass.
type Wait struct {
	// Until is when it is over; zero if nothing is waited for.
	Until time.Duration
	// Long is how long it is altogether.
	Long time.Duration
}

// Left is how much of the wait is to come.
func (s State) Left() time.Duration { return max(0, s.Wait.Until-s.Elapsed) }

// Gears counts what has gone through each gear, of all informers together.
type Gears struct {
	// Reflectors
	Lists, Events, Watches, WatchesEnded, Expired int
	// DeltaFIFOs. Depth is how many keys wait, MostDeltas the longest list of deltas that a key was popped with.
	Deltas, Pops, Depth, MostDepth, MostDeltas, Tombstones int
	// Indexers
	Objects int
	// Shared processors: calls of handlers.
	Calls int
	// Queue. Ready is how many keys wait for a worker, Later how many for the end of a delay.
	Adds, Coalesced, Delays, Retries, Gets, Ready, Later int
	// Workers
	Workers, Busy, Passes, Failures, Conflicts int
}

// Stage is something that takes time.
type Stage struct {
	Name string
	// From is when it began, Took how long it lasted, 0 while it runs.
	From, Took time.Duration
}

// Client is who sends requests.
type Client string

// The clients of a demo.
const (
	Controller Client = "controller"
	Spectators Client = "spectators"
	Script     Client = "you"
)

func (s State) clone() State {
	s.Namespace.Finalizers = slices.Clone(s.Namespace.Finalizers)
	s.Namespace.Conditions = slices.Clone(s.Namespace.Conditions)
	s.Types = slices.Clone(s.Types)
	s.Lines = slices.Clone(s.Lines)
	s.Stages = slices.Clone(s.Stages)
	requests := make(map[Client]map[string]int, len(s.Requests))
	for client, verbs := range s.Requests {
		requests[client] = maps.Clone(verbs)
	}
	s.Requests = requests
	s.Beats = slices.Clip(s.Beats) // what is told later goes elsewhere
	return s
}

// Count sets how many objects of a type there are.
func (s *State) Count(name string, left int) {
	for i := range s.Types {
		if s.Types[i].Name == name {
			s.Types[i].Left = left
			s.Types[i].Most = max(s.Types[i].Most, left)
		}
	}
}

// TypeNamed returns the bar of a type; ok is false if it has none.
func (s *State) TypeNamed(name string) (found Type, ok bool) {
	for _, t := range s.Types {
		if t.Name == name {
			return t, true
		}
	}
	return Type{}, false
}

// Total is the sum of all types.
func (s *State) Total() Type {
	total := Type{Name: "all"}
	for _, t := range s.Types {
		total.Left += t.Left
		total.Most += t.Most
	}
	return total
}

// Line sets a further bar.
func (s *State) Line(name string, left int) {
	for i := range s.Lines {
		if s.Lines[i].Name == name {
			s.Lines[i].Left = left
			s.Lines[i].Most = max(s.Lines[i].Most, left)
			return
		}
	}
	s.Lines = append(s.Lines, Type{Name: name, Left: left, Most: left})
}
