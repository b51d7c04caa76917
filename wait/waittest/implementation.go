package waittest

import (
	"context"
	"time"
)

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
	NewBackoff func(b Backoff) (step func() time.Duration, steps func() int)
	// ExponentialBackoff polls with a backoff; the second form takes a context.
	ExponentialBackoff            func(b Backoff, condition func() (bool, error)) error
	ExponentialBackoffWithContext func(ctx context.Context, b Backoff, condition Condition) error

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

// Loop is one form of JitterUntil. Forms without jitter ignore factor.
type Loop struct {
	Name     string
	Jitters  bool // takes a factor and sliding
	Sliding  bool // its behaviour if it does not take sliding
	Contexts bool // passes ctx to f
	Run      func(ctx context.Context, f func(context.Context), period time.Duration, factor float64, sliding bool)
}

// Poll is one form of the Poll family. Forms without a timeout ignore it.
type Poll struct {
	Name      string
	Immediate bool // calls the condition before the first interval
	Timeout   bool // takes a timeout
	Stops     bool // takes a context or a stop channel
	Contexts  bool // passes ctx to the condition
	Legacy    bool // reports ErrWaitTimeout instead of the context's error
	Run       func(ctx context.Context, interval, timeout time.Duration, condition Condition) error
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
	// LooksAfterCappedWait: ExponentialBackoff calls the condition once more after the wait that
	// reached the cap.
	LooksAfterCappedWait Capability = "asks once more after the wait that reached the cap"
	// StopWins: a stop while the condition runs prevents the last call of the first generation of
	// Poll.
	StopWins Capability = "a stop wins against a timeout in the old Poll functions"
)

func (impl Implementation) has(c Capability) bool {
	_, lacks := impl.Lacks[c]
	return !lacks
}
