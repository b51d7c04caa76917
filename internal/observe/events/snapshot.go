package events

import (
	"context"

	"orrery/restclient/api"
)

// Snapshot is what a recorder has done and has to do, as plain data.
type Snapshot struct {
	// Waiting is how many Events have not been sent yet.
	Waiting int
	// Created and Counted are how many Events the server has taken, new ones and repetitions of those.
	Created, Counted int64
	// Dropped is how many it has not, by reason.
	Dropped map[Drop]int64
}

type counters struct {
	created, counted int64
	dropped          map[Drop]int64
}

// Snapshot may be called from any goroutine.
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
