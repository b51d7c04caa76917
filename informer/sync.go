package informer

import (
	"context"
	"slices"
	"time"

	"orrery/wait"
)

// InformerSynced reports whether something has synced, such as SharedIndexInformer.HasSynced or
// Registration.HasSynced.
type InformerSynced func() bool

// Syncer can be waited for without polling: an informer or a [Registration].
type Syncer interface {
	HasSynced() bool
	Synced() <-chan struct{}
}

// syncPollPeriod is the polling interval of WaitForCacheSync.
const syncPollPeriod = 100 * time.Millisecond

// WaitForCacheSync waits until all functions return true. It returns false if ctx ended before. It
// polls every 100 ms; [WaitForSync] does not poll.
//
// A controller that depends on data collected by its handlers must wait for its registrations: the
// informer's store may be complete before the handlers have processed it.
func WaitForCacheSync(ctx context.Context, synced ...InformerSynced) bool {
	isNot := func(s InformerSynced) bool { return !s() }
	err := wait.PollUntilContextCancel(ctx, syncPollPeriod, true, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(synced, isNot), nil
	})
	return err == nil
}

// WaitForSync waits until all informers and registrations have synced. It returns nil, or the error
// of ctx if that ended first.
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

// waitClosed waits until done is closed. It gives up when ctx ends, or with ErrStopped when stopped
// is closed.
func waitClosed(ctx context.Context, done, stopped <-chan struct{}) error {
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	case <-stopped:
		err = ErrStopped
	}
	if isClosed(done) { // select chooses at random
		return nil
	}
	return err
}
