package chaos

import (
	"fmt"
	"strings"
	"time"
)

// Step is one action in a storm. What decides which fields matter.
type Step struct {
	At    time.Duration // since the beginning of the storm
	Actor string        // whose dice drew it
	What  Action
	On    string // a process, or resource/namespace/name
	Text  string // a fault, a label, the kind of a restart
	N     int
	For   time.Duration // how long a fault lasts
}

// Action is what a [Step] does.
type Action string

// The actions.
const (
	// Writes. A write that is impossible, because the object is missing or exists already, is
	// skipped.
	Put             Action = "put"              // creates the object, or changes it
	Delete          Action = "delete"           // deletes it
	Recreate        Action = "recreate"         // deletes it and immediately recreates it
	Release         Action = "release"          // removes the finalizer that holds it
	CreateNamespace Action = "create-namespace" // with the finalizers in Text
	DeleteNamespace Action = "delete-namespace"

	// Faults of a link, which end after For.
	Cut        Action = "cut"
	HalfClose  Action = "half-close"
	BlackHole  Action = "black-hole" // N: 0 both directions, 1 what is sent, 2 what is received
	Stall      Action = "stall"
	Refuse     Action = "refuse"
	Slow       Action = "slow" // For is its end, N the delay in ms, Text "jitter" for as much jitter
	Drip       Action = "drip" // N bytes per second
	CutAfter   Action = "cut-after"
	Corrupt    Action = "corrupt"
	LinkHealed Action = "link-healed" // the end of them

	// Faults of the server.
	Fault   Action = "fault"   // Text as for the server's option --fault
	Restart Action = "restart" // Text: how; For: how long it is down

	Reborn Action = "reborn" // the process On ends as Text says, and a new one takes its place

	// Handlers of the informer On.
	Join  Action = "join"
	Leave Action = "leave" // N: the index among those that joined late
)

// String returns the step as a line of a report.
func (s Step) String() string {
	words := []string{fmt.Sprintf("%9.3fs %-14s %s", s.At.Seconds(), s.Actor, s.What)}
	if s.On != "" {
		words = append(words, s.On)
	}
	if s.Text != "" {
		words = append(words, s.Text)
	}
	if s.N != 0 {
		words = append(words, fmt.Sprint(s.N))
	}
	if s.For != 0 {
		words = append(words, "for "+s.For.String())
	}
	return strings.Join(words, " ")
}
