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
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
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

// Implementation adapts a wait package to the suite. Every field is required; a package names in
// Lacks what it cannot do.
type Implementation struct {
	Name string

	// Forever is tested outside a bubble, since implementations may wait on a channel made at
	// program start.
	Forever func(f func(), period time.Duration)
	// Loops are the forms of Until and JitterUntil.
	Loops  []Loop
	Jitter func(d time.Duration, maxFactor float64) time.Duration

	// Polls are the forms of Poll.
	Polls []Poll

	// NewBackoff returns the Step method of a backoff with these parameters, and a function that
	// returns its remaining Steps.
	NewBackoff        func(b Backoff) (step func() time.Duration, steps func() int)
	ContextForChannel func(stop <-chan struct{}) context.Context
	NewGroup          func() Group

	ErrWaitTimeout error
	Interrupted    func(error) bool

	// Protect calls f under a deferred HandleCrash with one additional handler (nil for none). The
	// adapter must defer it itself, since recover works only in the deferred function.
	Protect func(ctx context.Context, f func(), handler func(value any))
	// SetReallyCrash sets the process-wide switch.
	SetReallyCrash func(crash bool)
	// OnPanic replaces the process-wide panic handlers by one.
	OnPanic func(handler func(ctx context.Context, value any)) (restore func())

	// Lacks names the missing capabilities, with the reasons.
	Lacks map[Capability]string
}

// Condition is the condition of the Poll functions.
type Condition = func(ctx context.Context) (bool, error)

// LoopFunc and PollFunc are the signatures with every parameter.
type (
	LoopFunc = func(ctx context.Context, f func(context.Context), period time.Duration, factor float64, sliding bool)
	PollFunc = func(ctx context.Context, interval, timeout time.Duration, condition Condition) error
)

// Loop is one form of JitterUntil. Forms without jitter ignore factor.
type Loop struct {
	Name     string
	Jitters  bool // takes a factor and sliding
	Sliding  bool // its behaviour if it does not take sliding
	Contexts bool // passes ctx to f
	Run      LoopFunc
}

// Poll is one form of the Poll family. Forms without a timeout ignore it.
type Poll struct {
	Name      string
	Immediate bool // calls the condition before the first interval
	Timeout   bool // takes a timeout
	Stops     bool // takes a context or a stop channel
	Contexts  bool // passes ctx to the condition
	Legacy    bool // reports ErrWaitTimeout instead of the context's error
	Run       PollFunc
}

// Backoff are the parameters of a back-off.
type Backoff struct {
	Duration time.Duration
	Factor   float64
	Jitter   float64
	Steps    int
	Cap      time.Duration
}

// Group starts goroutines and waits for them.
type Group interface {
	Start(f func())
	StartWithChannel(stop <-chan struct{}, f func(stop <-chan struct{}))
	StartWithContext(ctx context.Context, f func(context.Context))
	Wait()
}

// Capability names a deliberate difference from apimachinery. An implementation that lacks one
// gives the reason, and the suite asserts the other behaviour.
type Capability string

const (
	// SaturatingDurations: a delay that would overflow is the longest possible one, not negative.
	SaturatingDurations Capability = "durations saturate instead of becoming negative"
)

func (impl Implementation) has(c Capability) bool {
	_, lacks := impl.Lacks[c]
	return !lacks
}

func runGroup(t *testing.T, impl Implementation) {
	synctest.Test(t, func(t *testing.T) {
		group := impl.NewGroup()
		group.Wait() // an empty group does not block

		var ended atomic.Int32
		stop := make(chan struct{})
		ctx, cancel := context.WithCancel(markedContext())
		group.Start(func() {
			time.Sleep(time.Second)
			ended.Add(1)
		})
		group.StartWithChannel(stop, func(given <-chan struct{}) {
			<-given
			ended.Add(1)
		})
		group.StartWithContext(ctx, func(given context.Context) {
			assert.True(t, isMarked(given))
			<-given.Done()
			ended.Add(1)
		})
		time.AfterFunc(2*time.Second, func() { close(stop) })
		time.AfterFunc(3*time.Second, cancel)

		watch := newStopwatch()
		group.Wait()
		assert.Equal(t, 3*time.Second, watch.Now())
		assert.EqualValues(t, 3, ended.Load())
	})
}

func runContext(t *testing.T, impl Implementation) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		ctx := impl.ContextForChannel(stop)
		child, cancel := context.WithCancel(ctx)
		defer cancel()

		assert.NoError(t, ctx.Err())
		_, hasDeadline := ctx.Deadline()
		assert.False(t, hasDeadline)
		assert.Nil(t, ctx.Value(contextKey{}))

		close(stop)
		<-ctx.Done()
		assert.Equal(t, context.Canceled, ctx.Err())
		<-child.Done()
		assert.Equal(t, context.Canceled, child.Err())
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(impl.ContextForChannel(nil), time.Hour)
		defer cancel()
		<-ctx.Done()
		assert.Equal(t, context.DeadlineExceeded, ctx.Err(), "a nil channel never ends it")
	})
}

func runErrors(t *testing.T, impl Implementation) {
	for _, err := range []error{
		impl.ErrWaitTimeout,
		context.Canceled,
		context.DeadlineExceeded,
	} {
		assert.True(t, impl.Interrupted(err), "%v", err)
		assert.True(t, impl.Interrupted(fmt.Errorf("while waiting: %w", err)), "%v, wrapped", err)
	}
	for _, err := range []error{nil, io.EOF, errCondition, errors.New(impl.ErrWaitTimeout.Error())} {
		assert.False(t, impl.Interrupted(err), "%v", err)
	}
	assert.Equal(t, "timed out waiting for the condition", impl.ErrWaitTimeout.Error())
}
