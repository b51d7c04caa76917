package wait

import (
	"context"
	"sync"
	"time"
)

// NeverStop is the stop channel of a loop that never stops.
//
// It is nil on purpose: receiving from a nil channel blocks forever. Unlike a channel made at
// program start, it may be used inside a testing/synctest bubble.
var NeverStop <-chan struct{}

// ContextForChannel returns a context that is cancelled when stopCh is closed, for code with a stop
// channel that calls code with a context. It starts no goroutine, and there is nothing to cancel.
// It has no deadline and no values. For a nil channel (see [NeverStop]) it never ends.
//
// stopCh must be closed, not sent to: a value wakes one reader only.
func ContextForChannel(stopCh <-chan struct{}) context.Context {
	return channelContext{stopCh: stopCh}
}

type channelContext struct{ stopCh <-chan struct{} }

func (c channelContext) Done() <-chan struct{} { return c.stopCh }

// Err checks the channel instead of caching a result, so that it never lags behind Done.
func (c channelContext) Err() error {
	select {
	case <-c.stopCh:
		return context.Canceled
	default:
		return nil
	}
}

func (channelContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (channelContext) Value(any) any               { return nil }

// Sleep waits for d, or until ctx ends; then it returns ctx.Err(). With a d of 0
// or less it returns ctx.Err() at once. It is time.Sleep for code that must stop
// when ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Group starts goroutines and waits until all of them have returned. Its zero
// value is ready to use. It must not be copied after the first Start.
//
// A group does not stop anything: the channel or context that was passed to a function does.
type Group struct {
	wg sync.WaitGroup
}

// Start runs f on a new goroutine. As with a sync.WaitGroup, Start on an empty group must not be
// concurrent with Wait.
func (g *Group) Start(f func()) {
	g.wg.Go(f)
}

// StartWithChannel starts f(stopCh). f must return soon after stopCh is closed.
func (g *Group) StartWithChannel(stopCh <-chan struct{}, f func(stopCh <-chan struct{})) {
	g.Start(func() { f(stopCh) })
}

// StartWithContext starts f(ctx). f must return soon after ctx has ended.
func (g *Group) StartWithContext(ctx context.Context, f func(context.Context)) {
	g.Start(func() { f(ctx) })
}

// Wait blocks until every started function has returned.
func (g *Group) Wait() {
	g.wg.Wait()
}
