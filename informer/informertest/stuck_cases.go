package informertest

import (
	"fmt"
	"strconv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stuckCases are about handlers that are slow or stuck.
var stuckCases = []contractCase{
	{"a handler receives one event at a time", func(b *bubble) {
		g := b.newLatch()
		h, _ := b.handlerDuring(func(Event) { g.wait() })
		b.start()
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.waitIdle()
		assert.Equal(b, []string{"add ns/a=1"}, h.Events(), "the first callback has not returned")
		g.open()
		b.waitIdle()
		assert.Equal(b, []string{"add ns/a=1", "add ns/b=1"}, h.Events())
	}},
	{"a slow handler delays no other", func(b *bubble) {
		g := b.newLatch()
		slow, _ := b.handlerDuring(func(Event) { g.wait() })
		quick := b.handler()
		b.start()
		// after each change the quick handler can have it, unless something waits
		want := change3000Times(b, b.waitIdle)
		assert.Equal(b, 1, len(slow.Events()), "the first callback has not returned")
		early := len(quick.Events())
		g.open()
		b.waitIdle()
		b.leadsTo(want, quick, "the quick handler misses nothing")
		b.leadsTo(want, slow, "the slow handler misses nothing")
		assert.Equal(b, len(quick.Events()), early, "the quick handler waits for the slow one")
	}},
	{"a stuck handler can be removed, by itself or by another, and then delays no other", func(b *bubble) {
		g := b.newLatch()
		_, stuck := b.handlerDuring(func(Event) { g.wait() })
		quick := b.handler()
		b.start()
		want := change3000Times(b, nil)
		require.NoError(b, b.informer.RemoveEventHandler(stuck)) // while its callback is running
		b.waitIdle()
		b.leadsTo(want, quick)
		g.open()
	}},
	{"a callback adds and removes handlers while the informer may wait for it", func(b *bubble) {
		g := b.newLatch()
		late, leaving := &Recorder{}, &Recorder{}
		var left Registration
		first := true
		busy, _ := b.handlerDuring(func(Event) {
			if !first {
				return
			}
			first = false
			g.wait()
			_, err := b.informer.AddEventHandler(late.Handle, -1)
			assert.NoError(b, err)
			assert.NoError(b, b.informer.RemoveEventHandler(left))
		})
		left, err := b.informer.AddEventHandler(leaving.Handle, -1)
		require.NoError(b, err)
		b.start()
		want := change3000Times(b, nil)
		g.open()
		b.waitIdle()
		b.leadsTo(want, busy)
		got, err := b.replay(late)
		require.NoError(b, err)
		assert.Equal(b, content(b.source), got)
	}},
	{"an informer ends although a handler is stuck and the informer may wait for it", func(b *bubble) {
		g := b.newLatch()
		b.handlerDuring(func(Event) { g.wait() })
		b.start()
		change3000Times(b, nil)
		b.cancel()
		b.waitIdle()
		assert.True(b, b.informer.IsStopped(), "Run waits only for the callback")
		g.open()
		<-b.returned
	}},
}

// change3000Times changes one object more often than any handler has room for, and returns the
// expected events. It calls afterEach, if not nil, after each change.
func change3000Times(b *bubble, afterEach func()) []string {
	var events []string
	for i := range 3000 {
		b.set("ns/a", strconv.Itoa(i))
		if i == 0 {
			events = append(events, "add ns/a=0")
		} else {
			events = append(events, fmt.Sprintf("update ns/a %d->%d", i-1, i))
		}
		if afterEach != nil {
			afterEach()
		}
	}
	b.waitIdle()
	return events
}

// lateCases are about handlers added to a running informer.
var lateCases = append(cases([]script{
	{name: "a handler added later receives the content of the store and then the events",
		before: "set ns/a 1", steps: "set ns/b 1; join never; synced; set ns/b 2; delete ns/a", anyOrder: true,
		want: "add ns/a=1 (initial); add ns/b=1 (initial); update ns/b 1->2; delete ns/a=1"},
	{name: "a handler added before the first list is complete is synced after the list",
		before: "set ns/a 1; disconnect", steps: "join never; unsynced; reconnect; synced",
		want: "add ns/a=1 (initial)"},
	// Defect 8.11 of client-go: a handler that joins holds the events of all others back.
	{name: "a slow handler added later delays no other and is synced when it is done", handlers: "never",
		before: "set ns/0 1; set ns/1 1", anyOrder: true,
		steps: "join slow; set ns/new 1; received 0 3; received 1 1; unsynced 1; open; synced 1",
		want: "add ns/0=1 (initial); add ns/1=1 (initial); add ns/new=1 | " +
			"add ns/0=1 (initial); add ns/1=1 (initial); add ns/new=1"},
	{name: "a handler added later to an empty store is synced",
		steps: "join never; synced"},
}), []contractCase{
	{"a handler added later is synced after the last object of the store and not before", func(b *bubble) {
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.start()
		var registration Registration
		registered := make(chan struct{})
		var early []bool
		h := &Recorder{During: func(Event) {
			<-registered
			early = append(early, registration.HasSynced())
		}}
		registration, err := b.informer.AddEventHandler(h.Handle, -1)
		require.NoError(b, err)
		close(registered)
		b.waitIdle()
		assert.Equal(b, []bool{false, false}, early, "while the callbacks run")
		assert.True(b, registration.HasSynced())
	}},
}...)
