package informertest

import (
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var eventCases = append(cases([]script{
	{name: "events of an object come in order",
		steps: "set ns/a 1 2 3; delete ns/a; set ns/a 4", burst: true,
		want: "add ns/a=1; update ns/a 1->2; update ns/a 2->3; delete ns/a=3; add ns/a=4"},
	{name: "events of cluster-scoped and namespaced objects have their keys",
		steps: "set ns/a 1; delete ns/a; set a 1; delete a",
		want:  "add ns/a=1; delete ns/a=1; add a=1; delete a=1"},
	{name: "a list after a gap causes only events for the difference",
		before: "set ns/changed 1; set ns/gone 1; set ns/same 1",
		steps:  "disconnect; set ns/changed 2; delete ns/gone; set ns/new 1; relist", anyOrder: true,
		want: "add ns/changed=1 (initial); add ns/gone=1 (initial); add ns/same=1 (initial); " +
			"update ns/changed 1->2; delete ns/gone=1 (unknown); add ns/new=1",
		relisted: "update ns/same 1->1"},
	{name: "a tombstone has the last known state",
		steps: "set ns/a 1; disconnect; set ns/a 2; delete ns/a; relist",
		want:  "add ns/a=1; delete ns/a=1 (unknown)"},
	{name: "an object replaced during a gap is an update",
		steps: "set ns/a 1; disconnect; delete ns/a; set ns/a 2; relist",
		want:  "add ns/a=1; update ns/a 1->2"},
	{name: "the watch continues where it broke off",
		steps: "set ns/a 1; wait; disconnect; set ns/a 2; delete ns/a; reconnect", burst: true,
		want: "add ns/a=1; update ns/a 1->2; delete ns/a=2"},
}), []contractCase{
	{"the store is as new as the event", func(b *bubble) {
		var old []string
		h := &Recorder{During: func(e Event) {
			value, known := b.informer.Content()[e.Key]
			if known != (e.Kind != "delete") || value != e.New {
				old = append(old, e.String())
			}
		}}
		_, err := b.informer.AddEventHandler(h.Handle, -1)
		require.NoError(b, err)
		b.start()
		// It waits after each step: otherwise the store may be newer, which is right.
		newPlayer(b, false).play("set ns/a 1; set ns/a 2; delete ns/a")
		assert.Empty(b, old)
		assert.Len(b, h.Events(), 3)
	}},
	{"the store changes before the handlers are called", func(b *bubble) {
		var mu sync.Mutex
		var order []string
		happened := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
		}
		b.make(InformerConfig{Index: func(string) error {
			time.Sleep(time.Second) // a handler that was notified before would be called meanwhile
			happened("the store indexes the object")
			return nil
		}})
		b.handlerDuring(func(Event) { happened("the handler is called") })
		b.start()
		b.set("ns/a", "1")
		time.Sleep(time.Minute)
		b.waitIdle()
		require.NotEmpty(b, order)
		assert.Equal(b, "the store indexes the object", order[0],
			"want the store to change before any handler is called")
		assert.Contains(b, order, "the handler is called")
	}},
	{"a transform runs before everything else", func(b *bubble) {
		b.set("ns/a", "1")
		calls := map[string]int{}
		b.make(InformerConfig{Transform: func(value string) (string, error) {
			calls[value]++
			return value + "!", nil
		}})
		h := b.handler()
		b.start()
		b.set("ns/a", "2")
		b.waitIdle()
		if b.has(TransformsOnce) {
			assert.Equal(b, []string{"add ns/a=1! (initial)", "update ns/a 1!->2!"}, h.Events())
			assert.Equal(b, map[string]int{"1": 1, "2": 1}, calls)
		} else {
			assert.Equal(b, []string{"add ns/a=1!! (initial)", "update ns/a 1!!->2!"}, h.Events())
			assert.Equal(b, map[string]int{"1": 1, "1!": 1, "2": 1}, calls)
		}
		assert.Equal(b, map[string]string{"ns/a": "2!"}, b.informer.Content())
		late := b.handler()
		b.waitIdle()
		assert.Equal(b, []string{"add ns/a=2! (initial)"}, late.Events())
	}},
	{"while the informer is behind, objects keep their own order", func(b *bubble) {
		g := b.newLatch()
		if !b.has(ReceivesWhileProcessing) {
			g.open() // the informer must not fall behind: a goroutine that waits for a mutex stops the bubble
		}
		b.make(InformerConfig{Index: func(key string) error {
			if key == "ns/slow" {
				g.wait()
			}
			return nil
		}})
		h := b.handler()
		b.start()
		b.set("ns/slow", "1")
		b.waitIdle()
		b.set("ns/b", "1")
		b.set("ns/c", "1")
		b.set("ns/b", "2")
		b.waitIdle()
		if !b.has(ReceivesWhileProcessing) {
			got, err := b.replay(h)
			require.NoError(b, err)
			assert.Equal(b, content(b.source), got)
			return
		}
		g.open()
		b.waitIdle()
		if b.has(ArrivalOrder) {
			assert.Equal(b, []string{"add ns/slow=1", "add ns/b=1", "add ns/c=1", "update ns/b 1->2"}, h.Events())
		} else {
			b.leadsTo([]string{"add ns/slow=1", "add ns/b=1", "update ns/b 1->2", "add ns/c=1"}, h)
		}
	}},
}...)

// What a handler receives first, and with each resync.
const (
	first = "add ns/a=1 (initial)"
	again = "; update ns/a 1->1"
)

var resyncCases = append(cases([]script{
	{name: "each handler is resynced in its own period", resync: 10 * time.Second, handlers: "default never 15s",
		before: "set ns/a 1", steps: "after 45s", // 15 s are rounded up to the informer's checks
		want: first + again + again + again + again + " | " + first + " | " + first + again + again},
	{name: "a resync is for the handlers that are due, and a concurrent change for all",
		resync: 10 * time.Second, handlers: "default 20s never",
		before: "set ns/a 1", steps: "after 10.001s; set ns/a 2; after 10s; join default; after 1s",
		want: first + again + "; update ns/a 1->2; update ns/a 2->2 | " +
			first + "; update ns/a 1->2; update ns/a 2->2 | " +
			first + "; update ns/a 1->2 | add ns/a=2 (initial)"}, // no resync before the end of the first period
	{name: "a period that ends between two checks is due at the next check, and restarts there",
		resync: 5 * time.Second, handlers: "7s", before: "set ns/a 1",
		steps: "after 11s; received 0 2; after 8s; received 0 2; after 2s; received 0 3; after 13s",
		want:  first + again + again + again}, // not at 10, 15, 25 and 30 s
	{name: "an informer without resync never resyncs", handlers: "5s",
		before: "set ns/a 1", steps: "after 1h",
		want: first},
	{name: "before the start a short period makes the informer check more often",
		resync: time.Minute, handlers: "default 5s",
		before: "set ns/a 1", steps: "after 59s; set ns/a 2; after 2s", // a minute is not up after 55 s
		want: first + "; update ns/a 1->2; update ns/a 2->2 | " +
			first + strings.Repeat(again, 11) + "; update ns/a 1->2; update ns/a 2->2"},
	{name: "after the start it does not", resync: 10 * time.Second, handlers: "default",
		before: "set ns/a 1", steps: "after 5s; join 3s; after 26s", // 3 s are raised to 10 s
		want: first + again + again + again + " | " + first + again + again},
	{name: "no period is shorter than a second", resync: 10 * time.Second, handlers: "10ms",
		before: "set ns/a 1", steps: "after 3.5s",
		want: first + again + again + again},
	{name: "an unchanged list causes no events", resync: time.Hour, handlers: "default never",
		before: "set ns/a 1", steps: "disconnect; relist",
		want: first + " | " + first, relisted: "update ns/a 1->1"},
	{name: "a resync does not bring a deleted object back", resync: time.Second, handlers: "default",
		before: "set ns/a 1", steps: "after 1.5s; delete ns/a; after 5s",
		want: first + again + "; delete ns/a=1"},
	{name: "a removed handler is not resynced", resync: time.Second, handlers: "default",
		before: "set ns/a 1", steps: "after 1.5s; remove 0; after 10s",
		want: first + again},
}), []contractCase{
	// Defect 8.13 of client-go: each list restarts the timer of the resync.
	{"frequent lists", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: 8 * time.Second})
		resyncing, plain := &Recorder{}, b.handler()
		_, err := b.informer.AddEventHandler(resyncing.Handle, 0)
		assert.NoError(b, err)
		b.start()
		for range 8 {
			b.unseen(func() {}) // takes five seconds
		}
		if b.has(ResyncsDespiteRelists) {
			assert.GreaterOrEqual(b, len(resyncing.Events()), 1+4)
			assert.Len(b, plain.Events(), 1)
		} else {
			assert.Equal(b, plain.Events(), resyncing.Events(), "the repeated list is no resync")
		}
	}},
}...)
