package informertest

import (
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
		for _, change := range []func(){
			func() { b.set("ns/a", "1") }, func() { b.set("ns/a", "2") }, func() { b.source.Delete("ns/a") },
		} {
			change()
			b.waitIdle() // otherwise the store may be newer, which is right
		}
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
