package wait

import (
	"context"
	"sync"
	"time"
)

// NeverStop is the stop channel of a loop that never stops.
//
// It is nil on purpose. Receiving from a nil channel blocks for ever, which is
// what "never" means. Unlike a channel made at program start, a nil channel may
// be waited on inside a testing/synctest bubble.
var NeverStop <-chan struct{}

// ContextForChannel returns a context that ends when stopCh is closed, with
// context.Canceled. It is how code with a stop channel calls code that wants a
// context. It costs nothing and starts no goroutine; there is nothing to
// cancel. It has no deadline and no values. For a nil channel (see
// [NeverStop]) it never ends.
//
// stopCh must be closed, not sent to: a value wakes one reader only.
func ContextForChannel(stopCh <-chan struct{}) context.Context {
	return channelContext{stopCh: stopCh}
}

type channelContext struct{ stopCh <-chan struct{} }

func (c channelContext) Done() <-chan struct{} { return c.stopCh }

// Err looks at the channel instead of remembering an answer, so that it can
// never lag behind Done.
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
// A group does not stop anything: the channel or context that was given to a
// function tells it when to return.
type Group struct {
	wg sync.WaitGroup
}

// Start runs f on a goroutine of its own. Like a sync.WaitGroup, an empty
// group must not be started and waited for at the same time.
func (g *Group) Start(f func()) {
	g.wg.Go(f)
}

// StartWithChannel starts f(stopCh). f has to return soon after stopCh is
// closed.
func (g *Group) StartWithChannel(stopCh <-chan struct{}, f func(stopCh <-chan struct{})) {
	g.Start(func() { f(stopCh) })
}

// StartWithContext starts f(ctx). f has to return soon after ctx has ended.
func (g *Group) StartWithContext(ctx context.Context, f func(context.Context)) {
	g.Start(func() { f(ctx) })
}

// Wait blocks until every started function has returned.
func (g *Group) Wait() {
	g.wg.Wait()
}
