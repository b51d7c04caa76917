package events

import (
	"context"

	"orrery/restclient/api"
)

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
	s := Snapshot{Waiting: len(r.waiting), Created: r.counters.created, Counted: r.counters.counted, Dropped: map[Drop]int64{}}
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
