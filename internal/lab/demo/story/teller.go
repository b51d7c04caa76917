package story

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/observe/trace"
	"orrery/internal/words"
)

// Teller collects a story. The zero value is not usable; use [New].
type Teller struct {
	began time.Time // immutable

	mu      sync.Mutex    // it is locked after the recorder's
	state   State         // guarded by mu
	changed chan struct{} // guarded by mu; closed and replaced by each change

	recorder atomic.Pointer[trace.Recorder] // of the gears; nil: there is none
	told     map[string]bool                // guarded by mu; the events of keys that were told
}

// New returns a teller whose clock starts now.
func New(scene string, words Words) *Teller {
	t := &Teller{began: time.Now(), changed: make(chan struct{}), told: map[string]bool{}}
	t.state = State{Scene: scene, Words: words, Run: trace.NewState()}
	return t
}

// Follow tells the events that a recorder takes from now on.
func (t *Teller) Follow(recorder *trace.Recorder) {
	if start, err := time.Parse(time.RFC3339Nano, recorder.Header().Start); err == nil {
		t.mu.Lock()
		t.state.recorded = t.began.Sub(start)
		t.mu.Unlock()
	}
	t.recorder.Store(recorder) // first: from the first event on, the state has the recorder's lock, too
	recorder.Watch(t.tellEvent, t.drawEvent)
}

// locked calls f with the state, while neither it nor that of the recording changes.
func (t *Teller) locked(f func(*State)) {
	t.mu.Lock()
	recorder := t.recorder.Load()
	if recorder == nil {
		defer t.mu.Unlock()
		f(&t.state)
		return
	}
	t.mu.Unlock() // it is locked after the recorder's
	recorder.Read(func(run *trace.State) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.state.Run = run
		f(&t.state)
	})
}

// since returns the time of the story for a time of the recording in µs.
func (s *State) since(micros int64) time.Duration {
	return time.Duration(micros)*time.Microsecond - s.recorded
}

// flush takes the events that happened before a change of the script.
func (t *Teller) flush() {
	if recorder := t.recorder.Load(); recorder != nil {
		recorder.Flush()
	}
}

// Update changes the state. change must not block, call the teller, or keep the state.
func (t *Teller) Update(change func(*State)) {
	t.flush()
	t.locked(func(s *State) {
		s.Elapsed = time.Since(t.began)
		change(s)
		t.noticeLocked()
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

// End ends the story, from within Update.
func (s *State) End(now string) {
	s.Now, s.Until, s.Over = words.OneLine(s.said(now)), 0, true
}

// State returns a copy of the state.
func (t *Teller) State() (copied State) {
	t.flush()
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

// noticeLocked wakes the callers of Await.
func (t *Teller) noticeLocked() {
	close(t.changed)
	t.changed = make(chan struct{})
}
