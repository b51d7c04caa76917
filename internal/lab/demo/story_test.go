package demo

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/queue"
)

func TestEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, teller := startTeller(t)
		teller.Update(func(s *State) { s.Enter("it goes on", 5*time.Second) })
		time.Sleep(2 * time.Second)
		state := teller.State()
		assert.Equal(t, "it goes on", state.Now)
		assert.Equal(t, 3*time.Second, state.Left())
	})
}

// A copy of the state does not change.
func TestStatesAreCopies(t *testing.T) {
	_, teller := startTeller(t)
	teller.Update(func(s *State) {
		s.Types = append(s.Types, Type{Name: "pods", Left: 1})
		s.Lines = append(s.Lines, Type{Name: "waits", Left: 1})
	})
	before := teller.State()
	teller.Update(func(s *State) {
		s.Types[0].Left, s.Lines[0].Left = 2, 2
		s.Tell(You, "more")
	})
	assert.Equal(t, 1, before.Types[0].Left+before.Lines[0].Left-1)
	assert.Empty(t, before.Beats)
}

func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, teller := startTeller(t)
		beats := func(n int) func(*State) bool {
			return func(s *State) bool { return len(s.Beats) >= n }
		}
		require.NoError(t, teller.Await(t.Context(), beats(0)))
		done := make(chan error, 2)
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			go func() { done <- teller.Await(ctx, beats(3)) }()
		}
		for range 3 {
			synctest.Wait()
			assert.Empty(t, done)
			teller.Tell(You, "more")
		}
		assert.NoError(t, <-done)
		assert.NoError(t, <-done)
		go func() { done <- teller.Await(ctx, beats(4)) }()
		synctest.Wait()
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}

func TestAnEventWakesAwait(t *testing.T) {
	withHooks(t, func(teller *Teller, _ *nsctl.Trace, waits *queue.Trace[string]) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		time.AfterFunc(time.Second, func() { waits.Added(queue.Event[string]{Key: "shop", Seq: 1}) })
		added := func(s *State) bool { return s.Gears.Adds == 1 }
		assert.NoError(t, teller.Await(ctx, added), "nothing but the recorder tells of it")
	})
}

func TestBar(t *testing.T) {
	for part, want := range map[int]string{0: "░░░░", 1: "█░░░", 50: "██░░", 51: "███░", 100: "████", 120: "████", -1: "░░░░"} {
		assert.Equal(t, want, Bar(part, 100, 4), part)
	}
	assert.Equal(t, "░░░░", Bar(3, 0, 4), "nothing is a part of nothing")
}
