package demo

import (
	"context"
	"time"

	"orrery/internal/observe/trace"
	"orrery/internal/words"
)

// Teller collects a story: the events so far and the current state. [NewTeller] makes one.
//
// The gears report to a [trace.Recorder]. The Teller follows it: events change its [State], which
// has that of the recording, and the table of sentences turns them into [Beat]s. A script adds
// beats of its own. A display takes a copy of the state a few times a second.
//
//	gears ──▶ Recorder ──▶ Teller ──State()──▶ display
//	                         ▲
//	scene ──Tell, Await──────┘
//
// Beats are in the order of the events, with non-decreasing times. A Teller may be used from any
// goroutine, starts none, and never fails. It removes control codes from all texts.
type Teller struct {
	recorder *trace.Recorder // of the gears
	began    time.Time

	// Guarded by the recorder's lock, as the state of the run is.
	state   State
	changed chan struct{}   // closed and replaced by each change
	told    map[string]bool // the events of keys that were told
}

// NewTeller returns a teller of the events that a recorder takes from now on. Its clock starts now.
func NewTeller(recorder *trace.Recorder, scene string, words Words) *Teller {
	start, _ := time.Parse(time.RFC3339Nano, recorder.Header().Start) // it is written so
	t := &Teller{recorder: recorder, began: time.Now(), changed: make(chan struct{}), told: map[string]bool{}}
	t.state = State{Scene: scene, Words: words, recorded: t.began.Sub(start)}
	recorder.Watch(t.tellEvent, t.drawEvent)
	return t
}

// locked calls f with the state, while neither it nor that of the recording changes.
func (t *Teller) locked(f func(*State)) {
	t.recorder.Read(func(run *trace.State) {
		t.state.Run = run
		f(&t.state)
	})
}

// since returns the time of the story for a time of the recording in µs.
func (s *State) since(micros int64) time.Duration {
	return time.Duration(micros)*time.Microsecond - s.recorded
}

// Update changes the state, after the events that happened before. change must not block, call the
// teller, or keep the state.
func (t *Teller) Update(change func(*State)) {
	t.recorder.Flush()
	t.locked(func(s *State) {
		s.Elapsed = time.Since(t.began)
		change(s)
		t.notice()
	})
}

// Tell adds a beat.
func (t *Teller) Tell(who Who, format string, args ...any) {
	t.Update(func(s *State) { s.Tell(who, format, args...) })
}

// Tell adds a beat, from within Update. See [State.Say].
func (s *State) Tell(who Who, format string, args ...any) {
	s.Beats = append(s.Beats, Beat{At: s.Elapsed, Who: who, Text: words.OneLine(s.Say(format, args...))})
}

// Enter says what is happening from now on, from within Update. long is its length, 0 if unknown.
func (s *State) Enter(now string, long time.Duration) {
	s.Now, s.Until = words.OneLine(s.said(now)), s.Elapsed+long
}

// State returns a copy of the state.
func (t *Teller) State() (copied State) {
	t.recorder.Flush()
	t.locked(func(s *State) {
		s.Elapsed = time.Since(t.began)
		s.sum()
		copied = s.clone()
		copied.Panel = append(s.parts(), copied.Panel...)
	})
	return copied
}

// Await returns when holds reports true, or with the context's error. holds must not change or keep
// the state.
func (t *Teller) Await(ctx context.Context, holds func(*State) bool) error {
	for {
		held, changed := false, make(<-chan struct{})
		t.locked(func(s *State) {
			s.sum()
			held, changed = holds(s), t.changed
		})
		if held {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// notice wakes the callers of Await.
func (t *Teller) notice() {
	close(t.changed)
	t.changed = make(chan struct{})
}
