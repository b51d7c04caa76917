package informertest

import (
	"fmt"
	"strconv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stuckCases are about handlers that are slow or stuck.
var stuckCases = []contractCase{
	{"a slow handler delays nobody else", func(b *bubble) {
		b.make(InformerConfig{})
		g := newGate()
		slow, _ := b.handlerDuring(func(Event) { g.wait() })
		quick := b.handler()
		b.start()
		want := change3000Times(b)
		assert.Len(b, slow.Events(), 1)
		if b.has(IndependentHandlers) {
			b.leadsTo(want, quick)
		} else {
			assert.Less(b, len(quick.Events()), len(want), "it waits for the slow one")
		}
		g.open()
		b.settle()
		b.leadsTo(want, quick)
		b.leadsTo(want, slow, "and misses nothing")
	}},
	{"a handler that is stuck can be removed, by itself or by another, and holds up nobody then", func(b *bubble) {
		b.make(InformerConfig{})
		g := newGate()
		_, stuck := b.handlerDuring(func(Event) { g.wait() })
		quick := b.handler()
		b.start()
		want := change3000Times(b)
		require.NoError(b, b.informer.RemoveEventHandler(stuck)) // while its callback is going on
		b.settle()
		b.leadsTo(want, quick)
		g.open()
	}},
	{"handlers come and go inside the callback of one that everybody may be waiting for", func(b *bubble) {
		b.make(InformerConfig{})
		g := newGate()
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
		want := change3000Times(b)
		g.open()
		b.settle()
		b.leadsTo(want, busy)
		got, err := b.replay(late)
		require.NoError(b, err)
		assert.Equal(b, content(b.source), got)
	}},
	{"an informer ends although a handler is stuck and everybody may be waiting for it", func(b *bubble) {
		b.make(InformerConfig{})
		g := newGate()
		b.handlerDuring(func(Event) { g.wait() })
		b.start()
		change3000Times(b)
		b.cancel()
		b.settle()
		assert.True(b, b.informer.IsStopped(), "only the callback is waited for")
		g.open()
		<-b.returned
	}},
}

// change3000Times changes one object more often than any handler has room for, and returns what there is to tell.
func change3000Times(b *bubble) []string {
	var events []string
	for i := range 3000 {
		b.set("ns/a", strconv.Itoa(i))
		if i == 0 {
			events = append(events, "add ns/a=0")
		} else {
			events = append(events, fmt.Sprintf("update ns/a %d->%d", i-1, i))
		}
	}
	b.settle()
	return events
}
