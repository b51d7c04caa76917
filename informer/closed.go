package informer

import "context"

// isClosed reports whether a channel that nobody sends on is closed.
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
