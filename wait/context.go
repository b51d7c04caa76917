package wait

import (
	"context"
	"time"
)

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
