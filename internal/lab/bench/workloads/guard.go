package workloads

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// stallTimeout is how long a queue may make no progress before a key counts as lost. Unless the
// machine is overloaded, keys here take a thousandth of it.
const stallTimeout = time.Minute

// guard shuts a queue down when the context ends or the queue makes no progress for stallTimeout,
// so a lost key cannot block a workload forever.
type guard struct {
	q        Queue
	stalled  *time.Timer // shuts the queue down
	forget   func() bool // the context
	shutDown sync.Once
	down     atomic.Bool
}

// watch returns a guard that watches q. Close ends it.
func watch(ctx context.Context, q Queue) *guard {
	g := &guard{q: q}
	g.stalled = time.AfterFunc(stallTimeout, g.ShutDown)
	g.forget = context.AfterFunc(ctx, g.ShutDown)
	return g
}

// Moved reports that keys were processed. Call it once per batch.
func (g *guard) Moved() { g.stalled.Reset(stallTimeout) }

// ShutDown shuts the queue down, once.
func (g *guard) ShutDown() {
	g.shutDown.Do(func() {
		g.down.Store(true)
		g.q.ShutDown()
	})
}

// ended reports whether the queue was shut down.
func (g *guard) ended() bool { return g.down.Load() }

// Close shuts the queue down and ends the watch.
func (g *guard) Close() {
	g.stalled.Stop()
	g.forget()
	g.ShutDown()
}
