package events

import (
	"context"
	"slices"
	"time"

	"orrery/restclient/api"
)

// Trace is a set of hooks that are called as a [Recorder] works. The pointer and each hook may be
// nil. Hooks must not block. The context has the values of the one that was passed to Event.
type Trace struct {
	// Recorded: the server has accepted the Event, or has increased its count.
	Recorded func(ctx context.Context, event *api.Event)
	// Dropped: the Event will not be recorded; err may be nil, see [Drop].
	Dropped func(ctx context.Context, event *api.Event, why Drop, err error)
	// Suppressed: the server forbids Events in the namespace; none is sent there during the pause.
	Suppressed func(ctx context.Context, namespace string, err error, pause time.Duration)
	// Retry: the server could not be reached; the Event is sent again after the pause.
	Retry func(ctx context.Context, event *api.Event, err error, pause time.Duration)
}

// Drop is why an Event was not recorded.
type Drop string

// The reasons for which an Event is not recorded.
const (
	DropQueueFull Drop = "queue full" // too many were waiting
	DropLimited   Drop = "limited"    // too many about this object
	DropForbidden Drop = "forbidden"  // the server forbids it, or has forbidden it recently
	DropRefused   Drop = "refused"    // the server has rejected this one
	DropGivenUp   Drop = "given up"   // the server could not be reached for too long
	DropStopped   Drop = "stopped"    // the recorder was stopped before it was sent
)

// drops holds all reasons.
var drops = []Drop{DropQueueFull, DropLimited, DropForbidden, DropRefused, DropGivenUp, DropStopped}

// Drops returns all reasons.
func Drops() []Drop { return slices.Clone(drops) }

// Snapshot is the state of a recorder at one moment, as plain data.
type Snapshot struct {
	// Waiting is how many Events wait to be sent.
	Waiting int
	// Created and Counted are how many Events the server has accepted, new ones and repetitions.
	Created, Counted int64
	// Dropped is how many were dropped, by reason.
	Dropped map[Drop]int64
}

type counters struct {
	created, counted int64
	dropped          map[Drop]int64
}

// Snapshot returns the state. It may be called from any goroutine.
func (r *Recorder) Snapshot() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Snapshot{Waiting: len(r.waiting), Created: r.counters.created, Counted: r.counters.counted,
		Dropped: map[Drop]int64{}}
	for _, why := range drops {
		s.Dropped[why] = r.counters.dropped[why]
	}
	return s
}

func (r *Recorder) recorded(ctx context.Context, event *api.Event) {
	r.mu.Lock()
	if event.Count > 1 {
		r.counters.counted++
	} else {
		r.counters.created++
	}
	r.mu.Unlock()
	if t := r.trace; t != nil && t.Recorded != nil {
		t.Recorded(ctx, event)
	}
}

func (r *Recorder) drop(ctx context.Context, event *api.Event, why Drop, err error) {
	r.mu.Lock()
	r.counters.dropped[why]++
	r.mu.Unlock()
	if t := r.trace; t != nil && t.Dropped != nil {
		t.Dropped(ctx, event, why, err)
	}
}
