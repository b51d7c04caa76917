package scenes

import (
	"fmt"
	"sync"

	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/informer"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/observe/trace"
	"orrery/queue"
)

// Gears makes the gears of a scene without a server: those of the set, recorded, and work queues
// with gates. On a stage controllers and informers do that by themselves.
type Gears struct {
	gears.Set
	recorder *trace.Recorder
	gates    *gate.Gates

	mu    sync.Mutex
	names map[string]int // guarded by mu: how many gears have had a name
}

// NewGears returns the gears of a set. recorder and gates may be nil.
func NewGears(set gears.Set, recorder *trace.Recorder, gates *gate.Gates) *Gears {
	return &Gears{Set: set, recorder: recorder, gates: gates, names: map[string]int{}}
}

// NewQueue returns a work queue.
func (g *Gears) NewQueue(
	limiter queue.RateLimiter[string], config queue.Config[string],
) queue.ObservableInterface[string] {
	name := g.unused("queue")
	config.Trace = queue.JoinTraces(config.Trace, g.recorder.Queue(name))
	return gate.Queue(g.gates, name, g.Set.NewQueue(limiter, config))
}

// newFIFO returns a queue of deltas.
func newFIFO[T any](g *Gears, config deltafifo.Config[T]) informer.Queue[T] {
	config.Trace = deltafifo.JoinTraces(config.Trace, trace.FIFO[T](g.recorder, g.unused("fifo")))
	if made := gears.Informer[T](g.Set).NewQueue; made != nil {
		return made(config)
	}
	return deltafifo.New(config)
}

// unused returns a name that no other gear has: each queue numbers its own events.
func (g *Gears) unused(name string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names[name]++
	if n := g.names[name]; n > 1 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}
