package informer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/informer"
)

// TestDispatchAllocations: from the watch to the callback an event of a known object costs the entry in the queue
// and the cell in the store. Notifications, keys, listeners and hooks that are nil cost nothing.
func TestDispatchAllocations(t *testing.T) {
	const events = 2000
	for name, trace := range map[string]*informer.Trace{
		"no trace": nil, "no hooks": {}, "watchdog": {HandlerStuck: func(informer.StuckHandler) {}},
	} {
		for _, handlers := range []int{1, 16} {
			d := startDispatch(t, informer.Config[head]{Trace: trace}, handlers, 10_000)
			d.send(20_000, handlers) // every object and every buffer has been there before
			allocs := testing.AllocsPerRun(10, func() { d.send(events, handlers) })
			// Buffers may grow a little when the scheduler lets somebody fall behind.
			assert.LessOrEqual(t, allocs/events, 2.1, "%s, %d handlers", name, handlers)
		}
	}
}

// TestListerAllocatesOnlyItsResult: reading the store for a selector copies nothing but what it returns.
func TestListerAllocatesOnlyItsResult(t *testing.T) {
	l := informer.NewLister(shelf(t, nil), "pods")
	none := informer.SelectorFromSet(map[string]string{"app": "none"})
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { l.List(none) }), 8.0)
	assert.Zero(t, testing.AllocsPerRun(100, func() { none.Matches(map[string]string{"app": "web"}) }))
}
