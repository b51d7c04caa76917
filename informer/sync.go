package informer

import (
	"context"
	"slices"
	"time"

	"orrery/wait"
)

// InformerSynced is a question such as SharedIndexInformer.HasSynced or Registration.HasSynced.
type InformerSynced func() bool

// Syncer is what can be waited for without asking again and again: an informer or a [Registration].
type Syncer interface {
	HasSynced() bool
	Synced() <-chan struct{}
}

// syncPollPeriod is how often WaitForCacheSync asks.
const syncPollPeriod = 100 * time.Millisecond

// WaitForCacheSync waits until all the questions are answered by yes. It returns false if ctx ended before. It asks
// every 100 ms; [WaitForSync] does not have to.
//
// A controller that depends on what its own handlers have collected has to wait for its registrations: the cache
// of the informer may be complete before the handlers have been told of all of it.
func WaitForCacheSync(ctx context.Context, synced ...InformerSynced) bool {
	isNot := func(s InformerSynced) bool { return !s() }
	err := wait.PollUntilContextCancel(ctx, syncPollPeriod, true, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(synced, isNot), nil
	})
	return err == nil
}

// WaitForSync waits until all informers and registrations have synced. It returns nil, or the error of ctx if that
// ended before, and takes no longer than the slowest of them.
func WaitForSync(ctx context.Context, syncers ...Syncer) error {
	for _, s := range syncers {
		if err := waitClosed(ctx, s.Synced(), nil); err != nil {
			return err
		}
	}
	return nil
}

// isClosed reports whether a channel without senders is closed.
func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// waitClosed waits until done is closed. It gives up when ctx ends, or with ErrStopped when stopped is closed.
func waitClosed(ctx context.Context, done, stopped <-chan struct{}) error {
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	case <-stopped:
		err = ErrStopped
	}
	if isClosed(done) { // of several that are ready select takes any
		return nil
	}
	return err
}
