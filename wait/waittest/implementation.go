package waittest

import (
	"context"
	"time"
)

// Implementation is a wait package brought to one shape. Every field is
// required; a package that cannot do something says so in Lacks.
type Implementation struct {
	Name string

	// Forever is tested outside of a bubble, since implementations may wait on
	// a channel that was made at program start.
	Forever func(f func(), period time.Duration)
	// Loops are the forms of Until and JitterUntil.
	Loops  []Loop
	Jitter func(d time.Duration, maxFactor float64) time.Duration

	// Polls are the forms of Poll.
	Polls []Poll

	// NewBackoff returns the Step method of a backoff with these parameters,
	// and a function that tells its remaining Steps.
	NewBackoff func(b Backoff) (step func() time.Duration, steps func() int)
	// ExponentialBackoff polls with a backoff; the second form takes a context.
	ExponentialBackoff            func(b Backoff, condition func() (bool, error)) error
	ExponentialBackoffWithContext func(ctx context.Context, b Backoff, condition Condition) error

	ContextForChannel func(stop <-chan struct{}) context.Context
	NewGroup          func() Group

	ErrWaitTimeout error
	Interrupted    func(error) bool

	// Protect calls f under a deferred HandleCrash with one additional handler
	// (nil for none). The adapter has to defer it itself, since a recover works
	// in the deferred function only.
	Protect func(ctx context.Context, f func(), handler func(value any))
	// SetReallyCrash turns the process-wide switch.
	SetReallyCrash func(crash bool)
	// OnPanic replaces the process-wide panic handlers by one.
	OnPanic func(handler func(ctx context.Context, value any)) (restore func())

	// Lacks names what the package does not do, with the reason.
	Lacks map[Capability]string
}

// Condition is what the Poll functions ask.
type Condition = func(ctx context.Context) (bool, error)

// Loop is one form of JitterUntil. Forms without jitter ignore factor.
type Loop struct {
	Name     string
	Jitters  bool // takes a factor and sliding
	Sliding  bool // what it does if it does not take sliding
	Contexts bool // gives ctx to f, instead of the channel form's nothing
	Run      func(ctx context.Context, f func(context.Context), period time.Duration, factor float64, sliding bool)
}

// Poll is one form of the Poll family. Forms without a timeout ignore it.
type Poll struct {
	Name      string
	Immediate bool // asks before the first interval
	Timeout   bool // takes a timeout
	Stops     bool // takes a context or a stop channel
	Contexts  bool // gives ctx to the condition
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

// Capability names something in which this project deliberately differs from
// apimachinery. An implementation that lacks one gives the reason; the suite
// then asserts what it does instead.
type Capability string

const (
	// SaturatingDurations: a delay that would overflow is the longest possible
	// one and not a negative one.
	SaturatingDurations Capability = "durations saturate instead of becoming negative"
	// LooksAfterCappedWait: ExponentialBackoff asks once more after the wait
	// in which the cap was reached.
	LooksAfterCappedWait Capability = "asks once more after the wait that reached the cap"
	// StopWins: a stop that came while the condition ran prevents the last
	// question of the first generation of Poll.
	StopWins Capability = "a stop wins against a timeout in the old Poll functions"
)

func (impl Implementation) has(c Capability) bool {
	_, lacks := impl.Lacks[c]
	return !lacks
}
