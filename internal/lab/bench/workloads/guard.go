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
	q     Queue
	moves atomic.Int64

	shutDown sync.Once
	down     atomic.Bool
	stop     chan struct{}
	watching sync.WaitGroup
}

// watch returns a guard that watches q. Close ends it.
func watch(ctx context.Context, q Queue) *guard {
	g := &guard{q: q, stop: make(chan struct{})}
	g.watching.Go(func() { g.run(ctx) })
	return g
}

func (g *guard) run(ctx context.Context) {
	const checks = 4
	ticker := time.NewTicker(stallTimeout / checks)
	defer ticker.Stop()
	for still, last := 0, int64(-1); still < checks; {
		select {
		case <-ctx.Done():
			g.ShutDown()
			return
		case <-g.stop:
			return
		case <-ticker.C:
		}
		still++
		if moves := g.moves.Load(); moves != last {
			still, last = 0, moves
		}
	}
	g.ShutDown()
}

// Moved reports that keys were processed. Call it once per batch.
func (g *guard) Moved() { g.moves.Add(1) }

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
	close(g.stop)
	g.watching.Wait()
	g.ShutDown()
}
