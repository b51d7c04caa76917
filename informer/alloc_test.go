package informer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/informer"
	"orrery/informer/fast"
)

// TestDispatchAllocations: from the watch to the callback, an event of a known object costs the
// queue entry and the store's atomic box. Notifications, keys, listeners and nil hooks cost
// nothing.
func TestDispatchAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("allocations are counted without the race detector")
	}
	const events = 2000
	for name, trace := range map[string]*informer.Trace{
		"no trace": nil, "no hooks": {}, "watchdog": {HandlerStuck: func(informer.StuckHandler) {}},
	} {
		for _, handlers := range []int{1, 16} {
			d := startDispatch(t, informer.Config[head]{Trace: trace, Gears: fast.Gears[head]()}, handlers, 10_000)
			d.send(20_000, handlers) // all objects and buffers exist now
			allocs := testing.AllocsPerRun(10, func() { d.send(events, handlers) })
			// Buffers may grow a little when the scheduler lets a goroutine fall behind.
			assert.LessOrEqual(t, allocs/events, 2.1, "%s, %d handlers", name, handlers)
		}
	}
}
