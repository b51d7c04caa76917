package informertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var handlerCases = []contractCase{
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
	{"a handler that comes late is told what there is and then what happens", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{})
		b.start()
		b.set("ns/b", "1")
		b.settle()
		h, registration := b.handlerDuring(nil)
		b.settle()
		assert.True(b, registration.HasSynced())
		assert.ElementsMatch(b, []string{"add ns/a=1 (initial)", "add ns/b=1 (initial)"}, h.Events())
		h.Reset()
		b.set("ns/b", "2")
		b.source.Delete("ns/a")
		b.settle()
		assert.ElementsMatch(b, []string{"update ns/b 1->2", "delete ns/a=1"}, h.Events())
	}},
	{"a late handler is synced after the last object of the store and not before", func(b *bubble) {
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.make(InformerConfig{})
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
		b.settle()
		assert.Equal(b, []bool{false, false}, early, "while the callbacks run")
		assert.True(b, registration.HasSynced())
	}},
	{"a handler that joins before the first list is complete is synced behind the list", func(b *bubble) {
		b.set("ns/a", "1")
		release := b.source.Hold()
		b.make(InformerConfig{})
		b.start()
		h, registration := b.handlerDuring(nil)
		b.settle()
		assert.False(b, registration.HasSynced(), "nothing has been listed")
		release()
		time.Sleep(relistDelay)
		b.settle()
		assert.True(b, registration.HasSynced())
		assert.Equal(b, []string{"add ns/a=1 (initial)"}, h.Events())
	}},
	{"a handler that comes late to an empty store is synced", func(b *bubble) {
		b.make(InformerConfig{})
		b.start()
		h, registration := b.handlerDuring(nil)
		b.settle()
		assert.True(b, registration.HasSynced())
		assert.Empty(b, h.Events())
	}},
	{"a late handler that is slow delays nobody else and is synced when it is done", func(b *bubble) {
		for i := range 100 {
			b.set("ns/"+strconv.Itoa(i), "1")
		}
		b.make(InformerConfig{})
		quick := b.handler()
		b.start()
		quick.Reset()
		g := newGate()
		slow, registration := b.handlerDuring(func(Event) { g.wait() })
		b.set("ns/new", "1")
		b.settle()
		assert.Equal(b, []string{"add ns/new=1"}, quick.Events())
		assert.Len(b, slow.Events(), 1)
		assert.False(b, registration.HasSynced())
		g.open()
		b.settle()
		assert.True(b, registration.HasSynced())
		got, err := b.replay(slow)
		require.NoError(b, err)
		assert.Equal(b, content(b.source), got)
	}},
	{"handlers that come in the middle of events miss nothing and hear nothing twice", func(b *bubble) {
		b.make(InformerConfig{})
		b.start()
		var changing sync.WaitGroup
		changing.Go(func() {
			for i := range 2000 {
				b.set("ns/"+strconv.Itoa(i%17), strconv.Itoa(i))
				if i%5 == 0 {
					b.source.Delete("ns/" + strconv.Itoa(i%13))
				}
			}
		})
		var recorders []*Recorder
		for range 50 {
			recorders = append(recorders, b.handler())
			time.Sleep(time.Nanosecond) // let the others go on
		}
		changing.Wait()
		b.settle()
		for _, h := range recorders {
			got, err := b.replay(h)
			require.NoError(b, err)
			assert.Equal(b, content(b.source), got)
		}
	}},
	{"a removed handler is told nothing more, the others are (kubernetes/kubernetes#98657)", func(b *bubble) {
		b.make(InformerConfig{})
		removed, registration := b.handlerDuring(nil)
		stays := b.handler()
		b.start()
		b.set("ns/a", "1")
		b.settle()
		require.NoError(b, b.informer.RemoveEventHandler(registration))
		b.set("ns/a", "2")
		b.settle()
		assert.Equal(b, []string{"add ns/a=1"}, removed.Events())
		assert.Equal(b, []string{"add ns/a=1", "update ns/a 1->2"}, stays.Events())
		assert.NoError(b, b.informer.RemoveEventHandler(registration), "removing again does nothing")
	}},
	{"a handler that was removed before the start is told nothing", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{})
		removed, registration := b.handlerDuring(nil)
		stays := b.handler()
		require.NoError(b, b.informer.RemoveEventHandler(registration))
		b.start()
		assert.Empty(b, removed.Events())
		assert.Len(b, stays.Events(), 1)
	}},
	{"one handler added twice is two handlers", func(b *bubble) {
		b.make(InformerConfig{})
		var mu sync.Mutex
		calls := 0
		count := func(Event) {
			mu.Lock()
			defer mu.Unlock()
			calls++
		}
		first, err := b.informer.AddEventHandler(count, -1)
		require.NoError(b, err)
		_, err = b.informer.AddEventHandler(count, -1)
		require.NoError(b, err)
		b.start()
		b.set("ns/a", "1")
		b.settle()
		assert.Equal(b, 2, calls)
		require.NoError(b, b.informer.RemoveEventHandler(first))
		b.set("ns/a", "2")
		b.settle()
		assert.Equal(b, 3, calls)
	}},
	{"a removal drops what waits and does not wait for the callback", func(b *bubble) {
		b.make(InformerConfig{})
		g := newGate()
		h, registration := b.handlerDuring(func(Event) { g.wait() })
		b.start()
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.settle()
		require.NoError(b, b.informer.RemoveEventHandler(registration)) // while the callback is going on
		g.open()
		b.settle()
		assert.Equal(b, []string{"add ns/a=1"}, h.Events())
	}},
	{"a handler may remove itself", func(b *bubble) {
		b.make(InformerConfig{})
		var registration Registration
		h := &Recorder{During: func(Event) { assert.NoError(b, b.informer.RemoveEventHandler(registration)) }}
		registration, err := b.informer.AddEventHandler(h.Handle, -1)
		require.NoError(b, err)
		b.start()
		b.set("ns/a", "1")
		b.set("ns/a", "2")
		b.settle()
		if b.has(EveryChange) {
			assert.Equal(b, []string{"add ns/a=1"}, h.Events())
		} else {
			assert.Len(b, h.Events(), 1)
		}
	}},
	{"a handler may add another one", func(b *bubble) {
		b.make(InformerConfig{})
		added := &Recorder{}
		b.handlerDuring(func(e Event) {
			if e.Kind == "add" {
				_, err := b.informer.AddEventHandler(added.Handle, -1)
				assert.NoError(b, err)
			}
		})
		b.start()
		b.set("ns/a", "1")
		b.settle()
		b.set("ns/a", "2")
		b.settle()
		assert.Equal(b, []string{"add ns/a=1 (initial)", "update ns/a 1->2"}, added.Events())
	}},
	{"a registration is good for its own informer", func(b *bubble) {
		stranger := b.impl.New(b, NewContractSource(), InformerConfig{})
		foreign, err := stranger.AddEventHandler(func(Event) {}, -1)
		require.NoError(b, err)
		b.make(InformerConfig{})
		h := b.handler()
		b.start()
		err = b.informer.RemoveEventHandler(foreign)
		if b.has(RefusesForeign) {
			assert.Error(b, err)
		} else {
			assert.NoError(b, err)
		}
		b.set("ns/a", "1")
		b.settle()
		assert.Len(b, h.Events(), 1, "and removes no other")
	}},
	{"a removal that waits", func(b *bubble) {
		b.make(InformerConfig{})
		informer, can := b.informer.(ShutDowner)
		require.Equal(b, b.has(WaitsForHandlers), can)
		if !can {
			return
		}
		g := newGate()
		h, registration := b.handlerDuring(func(Event) { g.wait() })
		b.start()
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.settle()
		var result error
		done := make(chan struct{})
		go func() {
			defer close(done)
			result = informer.ShutDownEventHandler(context.Background(), registration)
		}()
		b.settle()
		select {
		case <-done:
			b.Error("it did not wait for the callback")
		default:
		}
		g.open()
		<-done
		assert.NoError(b, result)
		assert.Equal(b, []string{"add ns/a=1"}, h.Events())
		assert.NoError(b, informer.ShutDownEventHandler(context.Background(), registration), "again: nothing to do")
	}},
	{"a removal that delivers", func(b *bubble) {
		b.make(InformerConfig{})
		informer, can := b.informer.(Drainer)
		require.Equal(b, b.has(DrainsHandlers), can)
		if !can {
			return
		}
		h, registration := b.handlerDuring(func(Event) { time.Sleep(time.Second) })
		b.start()
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.set("ns/c", "1")
		b.settle()
		begin := time.Now()
		require.NoError(b, informer.ShutDownEventHandlerWithDrain(context.Background(), registration))
		assert.Equal(b, 3*time.Second, time.Since(begin))
		b.set("ns/d", "1")
		b.settle()
		assert.Equal(b, []string{"add ns/a=1", "add ns/b=1", "add ns/c=1"}, h.Events())
	}},
	{"a removal that delivers while events flow and another handler is stuck tells each event once", func(b *bubble) {
		b.make(InformerConfig{})
		informer, can := b.informer.(Drainer)
		require.Equal(b, b.has(DrainsHandlers), can)
		if !can {
			return
		}
		g := newGate()
		b.handlerDuring(func(Event) { g.wait() })
		stays := b.handler()
		b.start()
		var changing sync.WaitGroup
		changing.Go(func() { change3000Times(b) })
		for range 20 {
			time.Sleep(time.Nanosecond) // let the others go on
			leaves, registration := b.handlerDuring(nil)
			before := b.informer.Content()
			require.NoError(b, informer.ShutDownEventHandlerWithDrain(context.Background(), registration))
			got, err := b.replay(leaves)
			require.NoError(b, err, "no event twice, none left out")
			for key := range before {
				assert.Contains(b, got, key, "what was in the store when it was added")
			}
		}
		changing.Wait()
		g.open()
		b.settle()
		got, err := b.replay(stays)
		require.NoError(b, err)
		assert.Equal(b, content(b.source), got)
	}},
	{"removals that deliver, inside the callback of a handler that everybody may be waiting for", func(b *bubble) {
		b.make(InformerConfig{})
		informer, can := b.informer.(Drainer)
		require.Equal(b, b.has(DrainsHandlers), can)
		if !can {
			return
		}
		g := newGate()
		var other, own Registration
		calls := 0
		_, own = b.handlerDuring(func(Event) {
			if calls++; calls > 1 {
				return
			}
			g.wait()
			assert.NoError(b, informer.ShutDownEventHandlerWithDrain(context.Background(), other))
			assert.Error(b, informer.ShutDownEventHandlerWithDrain(context.Background(), own), "it cannot wait for itself")
		})
		var drained *Recorder
		drained, other = b.handlerDuring(nil)
		stays := b.handler()
		b.start()
		want := change3000Times(b)
		g.open()
		b.settle()
		_, err := b.replay(drained)
		require.NoError(b, err)
		assert.NotEmpty(b, drained.Events())
		if b.has(EveryChange) {
			assert.Greater(b, calls, 1, "what was there is still delivered")
		}
		b.leadsTo(want, stays)
	}},
	{"a hundred goroutines add and remove while events flow", func(b *bubble) {
		b.make(InformerConfig{})
		steady := b.handler()
		b.start()
		var abuse sync.WaitGroup
		for i := range 100 {
			abuse.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(i), 1))
				for n := range 5 {
					h, registration := b.handlerDuring(nil)
					b.set(fmt.Sprintf("ns/%d", i%10), fmt.Sprintf("%d-%d", i, n))
					time.Sleep(time.Duration(dice.IntN(1000)))
					assert.NoError(b, b.informer.RemoveEventHandler(registration))
					_, err := b.replay(h)
					assert.NoError(b, err)
				}
			})
		}
		abuse.Wait()
		b.settle()
		got, err := b.replay(steady)
		require.NoError(b, err)
		assert.Equal(b, content(b.source), got)
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
