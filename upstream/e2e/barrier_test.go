package e2e

import (
	"context"
	"sync"
)

// barrier is the common part of the blockers: callers wait while it is active.
type barrier struct {
	tr *trial
	// reached receives a value when the first caller since the last Block is held up.
	reached chan struct{}

	mu       sync.Mutex    // guards the fields below
	released chan struct{} // closed while nothing is held up
}

// newBarrier returns a released barrier.
func newBarrier(tr *trial) *barrier {
	b := &barrier{tr: tr, reached: make(chan struct{}, 1), released: make(chan struct{})}
	close(b.released)
	return b
}

// pass blocks until the barrier is released. It returns an error if the context ends first.
func (b *barrier) pass(ctx context.Context) error {
	b.mu.Lock()
	released := b.released
	b.mu.Unlock()
	select {
	case <-released:
		return nil
	default:
	}
	offer(b.reached)
	select {
	case <-released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Block holds up deletions from now on.
func (b *barrier) Block() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released = make(chan struct{})
	select {
	case <-b.reached:
	default:
	}
}

// Release lets the waiting deletions and all later ones pass.
func (b *barrier) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.released:
	default:
		close(b.released)
	}
}

// AwaitReached blocks until a deletion is held up.
func (b *barrier) AwaitReached() {
	b.tr.t.Helper()
	b.tr.eventually("a deletion waits at the blocker", func() (bool, error) {
		select {
		case <-b.reached:
			return true, nil
		default:
			return false, nil
		}
	})
}

// offer sends a value to a channel of capacity one unless it is full.
func offer(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}
