package e2e

import (
	"context"
	"sync"
)

// barrier is what gates are made of: it lets everybody pass, and while it is shut holds them up.
type barrier struct {
	tr *trial
	// reached receives a value when somebody has come to the shut barrier, for the first since it was shut.
	reached chan struct{}

	mu   sync.Mutex    // guards the fields below
	open chan struct{} // closed while the barrier is open
}

// newBarrier returns one that is open.
func newBarrier(tr *trial) *barrier {
	b := &barrier{tr: tr, reached: make(chan struct{}, 1), open: make(chan struct{})}
	close(b.open)
	return b
}

// pass returns when the barrier is open. The error is that of a context that has ended before.
func (b *barrier) pass(ctx context.Context) error {
	b.mu.Lock()
	open := b.open
	b.mu.Unlock()
	select {
	case <-open:
		return nil
	default:
	}
	offer(b.reached)
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Shut has deletions wait from now on.
func (b *barrier) Shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = make(chan struct{})
	select {
	case <-b.reached:
	default:
	}
}

// Open lets all deletions pass, those that wait and those that come.
func (b *barrier) Open() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.open:
	default:
		close(b.open)
	}
}

// AwaitReached waits until a deletion is held up.
func (b *barrier) AwaitReached() {
	b.tr.t.Helper()
	b.tr.eventually("a deletion has come to the gate", func() (bool, error) {
		select {
		case <-b.reached:
			return true, nil
		default:
			return false, nil
		}
	})
}

// offer puts a value into a channel with room for one, unless there is one already.
func offer(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}
