package informertest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

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

// hundred returns the text for each of 100 numbers.
func hundred(format string) (text string) {
	for i := range 100 {
		text += fmt.Sprintf(format, i)
	}
	return text
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
		before: hundred("set ns/%d 1; ") + "wait", anyOrder: true,
		steps: "join slow; set ns/new 1; received 0 101; received 1 1; unsynced 1; open; synced 1",
		want: hundred("add ns/%d=1 (initial); ") + "add ns/new=1 | " +
			hundred("add ns/%d=1 (initial); ") + "add ns/new=1"},
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

// removalCases are about the removal of handlers.
var removalCases = append(cases([]script{
	{name: "a removed handler receives nothing more, the others do (kubernetes/kubernetes#98657)",
		handlers: "never never",
		steps:    "set ns/a 1; remove 0; set ns/a 2; remove 0", // removing again does nothing
		want:     "add ns/a=1 | add ns/a=1; update ns/a 1->2"},
	{name: "a handler removed before the start receives nothing", handlers: "never never",
		before: "set ns/a 1; remove 0",
		want:   " | add ns/a=1 (initial)"},
	{name: "a handler may remove itself", handlers: "leaves",
		steps: "set ns/a 1; set ns/a 2",
		want:  "add ns/a=1"},
	{name: "a removal drops the backlog and does not wait for the callback", handlers: "slow",
		steps: "set ns/a 1; set ns/b 1; remove 0; open",
		want:  "add ns/a=1"},
}), []contractCase{
	{"one handler added twice counts as two", func(b *bubble) {
		h := &Recorder{}
		first, err := b.informer.AddEventHandler(h.Handle, -1)
		require.NoError(b, err)
		_, err = b.informer.AddEventHandler(h.Handle, -1)
		require.NoError(b, err)
		b.start()
		b.set("ns/a", "1")
		b.waitIdle()
		assert.Len(b, h.Events(), 2)
		require.NoError(b, b.informer.RemoveEventHandler(first))
		b.set("ns/a", "2")
		b.waitIdle()
		assert.Len(b, h.Events(), 3)
	}},
	{"a registration belongs to its own informer", func(b *bubble) {
		stranger := b.impl.New(b, NewContractSource(), InformerConfig{})
		foreign, err := stranger.AddEventHandler(func(Event) {}, -1)
		require.NoError(b, err)
		h := b.handler()
		b.start()
		err = b.informer.RemoveEventHandler(foreign)
		assert.Equal(b, b.has(RefusesForeign), err != nil, "%v", err)
		b.set("ns/a", "1")
		b.waitIdle()
		assert.Len(b, h.Events(), 1, "no other handler is removed")
	}},
	{"the end of a removed handler is reported when its callback has returned", func(b *bubble) {
		g := b.newLatch()
		h, registration := b.handlerDuring(func(Event) { g.wait() })
		ender, can := registration.(interface{ Ended() <-chan struct{} })
		require.Equal(b, b.has(ReportsEnd), can)
		if !can {
			return
		}
		b.start()
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.waitIdle()
		require.NoError(b, b.informer.RemoveEventHandler(registration))
		b.waitIdle()
		select {
		case <-ender.Ended():
			b.Error("the end was reported while a callback was running")
		default:
		}
		g.open()
		b.await(ender.Ended(), "the end of the handler is not reported an hour after its callback has returned")
		assert.Equal(b, []string{"add ns/a=1"}, h.Events())
	}},
	{"a hundred goroutines add and remove while events flow, and nothing is missed or received twice", func(b *bubble) {
		b.start()
		var mu sync.Mutex
		stay := []*Recorder{b.handler()}
		var abuse sync.WaitGroup
		for i := range 100 {
			abuse.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(i), 1))
				for n := range 5 {
					h, registration := b.handlerDuring(nil)
					b.set(fmt.Sprintf("ns/%d", i%10), fmt.Sprintf("%d-%d", i, n))
					time.Sleep(time.Duration(dice.IntN(1000)))
					if n == 2 {
						b.source.Delete(fmt.Sprintf("ns/%d", i%13))
						mu.Lock()
						stay = append(stay, h)
						mu.Unlock()
						continue
					}
					assert.NoError(b, b.informer.RemoveEventHandler(registration))
					_, err := b.replay(h)
					assert.NoError(b, err)
				}
			})
		}
		abuse.Wait()
		b.waitIdle()
		for _, h := range stay {
			got, err := b.replay(h)
			require.NoError(b, err)
			assert.Equal(b, content(b.source), got)
		}
	}},
}...)
