package queuebench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
)

// patience is how long a workload waits for a key before it takes it for lost. Keys here take a thousandth of it, unless the machine has
// hardly any time for them.
const patience = time.Minute

// guard shuts a queue down when the context ends or when nothing has moved for so long that a key must be lost, so that
// nobody waits for it forever.
type guard struct {
	q     Queue
	meter *bench.Meter // may be nil
	moves atomic.Int64

	shutDown sync.Once
	down     atomic.Bool
	stop     chan struct{}
	watching sync.WaitGroup
}

// watch begins to watch over q. Close ends it.
func watch(ctx context.Context, q Queue, meter *bench.Meter) *guard {
	g := &guard{q: q, meter: meter, stop: make(chan struct{})}
	g.watching.Go(func() { g.run(ctx) })
	return g
}

func (g *guard) run(ctx context.Context) {
	const looks = 4
	ticker := time.NewTicker(patience / looks)
	defer ticker.Stop()
	for still, last := 0, int64(-1); still < looks; {
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

// Moved says that n keys have moved. Call it for many at a time.
func (g *guard) Moved(n int) {
	g.moves.Add(1)
	g.meter.Count(n)
}

// ShutDown shuts the queue down, once.
func (g *guard) ShutDown() {
	g.shutDown.Do(func() {
		g.down.Store(true)
		g.q.ShutDown()
	})
}

// ended says that the queue was shut down.
func (g *guard) ended() bool { return g.down.Load() }

// Close shuts the queue down and ends the watch.
func (g *guard) Close() {
	close(g.stop)
	g.watching.Wait()
	g.ShutDown()
}
