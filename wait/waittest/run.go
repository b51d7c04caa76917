// Package waittest tests the behaviour of package wait.
//
// [Run] takes an [Implementation] and tests it in testing/synctest bubbles, where time is exact:
// "the third run starts 26 seconds after the first" is an equality. The suite runs against package
// wait and, in the module upstream, against k8s.io/apimachinery/pkg/util/wait, which proves that it
// describes Kubernetes. Where this project deliberately differs, there is a [Capability]:
// apimachinery lacks it, with a reason, and the suite asserts its other behaviour. No test is
// skipped.
//
// Tests of panics change the process-wide crash switch. Do not run the suite in parallel with other
// users of it.
package waittest

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Run runs the whole suite against impl.
func Run(t *testing.T, impl Implementation) {
	for _, loop := range impl.Loops {
		t.Run(loop.Name, func(t *testing.T) { runLoop(t, impl, loop) })
	}
	t.Run("Forever", func(t *testing.T) { testForever(t, impl) })
	t.Run("Jitter", func(t *testing.T) { runJitter(t, impl) })
	for _, poll := range impl.Polls {
		t.Run(poll.Name, func(t *testing.T) { runPoll(t, impl, poll) })
	}
	t.Run("Backoff", func(t *testing.T) { runBackoff(t, impl) })
	t.Run("ExponentialBackoff", func(t *testing.T) { runExponential(t, impl) })
	t.Run("HandleCrash", func(t *testing.T) { runCrash(t, impl) })
	t.Run("Group", func(t *testing.T) { runGroup(t, impl) })
	t.Run("ContextForChannel", func(t *testing.T) { runContext(t, impl) })
	t.Run("Errors", func(t *testing.T) { runErrors(t, impl) })
}

// stopwatch records when things happen, counted from its creation.
type stopwatch struct {
	began time.Time

	mu    sync.Mutex // guards the fields below
	marks []time.Duration
}

func newStopwatch() *stopwatch { return &stopwatch{began: time.Now()} }

// Mark records now and returns how many marks there are.
func (s *stopwatch) Mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks = append(s.marks, time.Since(s.began))
	return len(s.marks)
}

func (s *stopwatch) Marks() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Duration{}, s.marks...)
}

// Now returns the time since the beginning.
func (s *stopwatch) Now() time.Duration { return time.Since(s.began) }

// seconds writes a list of durations as tests want to read it.
func seconds(values ...float64) []time.Duration {
	all := []time.Duration{}
	for _, v := range values {
		all = append(all, time.Duration(v*float64(time.Second)))
	}
	return all
}

// contextKey is the key of a value that shows that a context was handed on.
type contextKey struct{}

func markedContext() context.Context {
	return context.WithValue(context.Background(), contextKey{}, "mark")
}

func isMarked(ctx context.Context) bool { return ctx.Value(contextKey{}) == "mark" }

// quietly turns crashing off and collects the panics that are met, until the
// test ends.
func quietly(t *testing.T, impl Implementation) (panics func() []any) {
	return watchPanics(t, impl, false)
}

// loudly is quietly with crashing on.
func loudly(t *testing.T, impl Implementation) (panics func() []any) {
	return watchPanics(t, impl, true)
}

func watchPanics(t *testing.T, impl Implementation, crash bool) (panics func() []any) {
	var mu sync.Mutex
	var seen []any
	restore := impl.OnPanic(func(_ context.Context, value any) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, value)
	})
	impl.SetReallyCrash(crash)
	t.Cleanup(func() {
		impl.SetReallyCrash(true)
		restore()
	})
	return func() []any {
		mu.Lock()
		defer mu.Unlock()
		return append([]any{}, seen...)
	}
}
