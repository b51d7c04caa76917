package workloads

import (
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
)

// run is shared by the phases of a run.
type run struct {
	QueueConfig
	keys    *bench.Keys
	indexOf func(key string) int // -1: none of the keys
	states  []keyState           // by index of the key; all zero between two phases
	cost    bench.Cost
}

// keyState is the state of one key. A producer records an event in it before adding the key, and a
// worker clears it when it gets the key. So an event that remains when the queue is empty was lost.
type keyState struct {
	due  atomic.Int64 // when the oldest unhandled event was due: ns since the phase began, plus 1; 0: none
	held atomic.Bool  // a worker has the key
}

// batch is the number of keys between two checks of the clock and the context. A producer without a
// pacer adds at least one batch, however late it begins.
const batch = 256

// batchSize is the number of keys a worker handles between two calls of Moved. Slow workers report
// single keys, or the guard would count waiting keys as lost.
func (r *run) batchSize() int {
	if r.HandlerCost <= 0 {
		return batch
	}
	return int(min(max(time.Second/r.HandlerCost, 1), batch))
}

// phase is one load on one queue, and its result.
type phase struct {
	*run
	*guard
	start time.Time
	until time.Duration // the time of the last event
	pacer *bench.Pacer  // nil: as fast as possible

	mu    sync.Mutex // guards tally while goroutines run
	tally            // of all goroutines
	usage bench.Usage
}

// tally is the counts of one goroutine.
type tally struct {
	added, processed int
	unknown, twice   int // keys handed out but never added, and to two workers at once
	latency          bench.Histogram
}

// collect adds the counts of a goroutine that ends.
func (p *phase) collect(t *tally) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.added += t.added
	p.processed += t.processed
	p.unknown += t.unknown
	p.twice += t.twice
	p.latency.Merge(&t.latency)
}

// drained reports whether no event waits for a worker.
func (p *phase) drained() bool {
	if p.q.Len() > 0 {
		return false
	}
	for i := range p.states {
		if p.states[i].due.Load() != 0 {
			return false
		}
	}
	return true
}
