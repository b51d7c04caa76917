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
		b.make(InformerConfig{})
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
		b.make(InformerConfig{})
		g := b.newLatch()
		slow, _ := b.handlerDuring(func(Event) { g.wait() })
		quick := b.handler()
		b.start()
		want := change3000Times(b, b.waitIdle) // after each change the quick handler can have it, unless something waits
		assert.Equal(b, 1, len(slow.Events()), "the first callback has not returned")
		early := len(quick.Events())
		g.open()
		b.waitIdle()
		b.leadsTo(want, quick, "the quick handler misses nothing")
		b.leadsTo(want, slow, "the slow handler misses nothing")
		if b.has(IndependentHandlers) {
			assert.Equal(b, len(quick.Events()), early, "the quick handler waits for the slow one")
		} else {
			assert.Less(b, early, len(quick.Events()), "the quick handler waits for the slow one")
		}
	}},
	{"a stuck handler can be removed, by itself or by another, and then delays no other", func(b *bubble) {
		b.make(InformerConfig{})
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
		b.make(InformerConfig{})
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
		b.make(InformerConfig{})
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
