package informertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// removalCases are about the removal of handlers.
var removalCases = append(cases([]script{
	{name: "a removed handler receives nothing more, the others do (kubernetes/kubernetes#98657)",
		handlers: "never never",
		steps:    "set ns/a 1; remove 0; set ns/a 2; remove 0", // removing again does nothing
		want:     "add ns/a=1 | add ns/a=1; update ns/a 1->2"},
	{name: "a handler removed before the start receives nothing", handlers: "never never",
		before: "set ns/a 1; remove 0",
		want:   " | add ns/a=1 (initial)"},
}), []contractCase{
	{"one handler added twice counts as two", func(b *bubble) {
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
		b.waitIdle()
		assert.Equal(b, 2, calls)
		require.NoError(b, b.informer.RemoveEventHandler(first))
		b.set("ns/a", "2")
		b.waitIdle()
		assert.Equal(b, 3, calls)
	}},
	{"a removal drops the backlog and does not wait for the callback", func(b *bubble) {
		g := b.newLatch()
		h, registration := b.handlerDuring(func(Event) { g.wait() })
		b.start()
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.waitIdle()
		require.NoError(b, b.informer.RemoveEventHandler(registration)) // while the callback is running
		g.open()
		b.waitIdle()
		assert.Equal(b, []string{"add ns/a=1"}, h.Events())
	}},
	{"a handler may remove itself", func(b *bubble) {
		var registration Registration
		h := &Recorder{During: func(Event) { assert.NoError(b, b.informer.RemoveEventHandler(registration)) }}
		registration, err := b.informer.AddEventHandler(h.Handle, -1)
		require.NoError(b, err)
		b.start()
		b.set("ns/a", "1")
		b.set("ns/a", "2")
		b.waitIdle()
		if b.has(EveryChange) {
			assert.Equal(b, []string{"add ns/a=1"}, h.Events())
		} else {
			assert.Len(b, h.Events(), 1)
		}
	}},
	{"a handler may add a handler", func(b *bubble) {
		added := &Recorder{}
		b.handlerDuring(func(e Event) {
			if e.Kind == "add" {
				_, err := b.informer.AddEventHandler(added.Handle, -1)
				assert.NoError(b, err)
			}
		})
		b.start()
		b.set("ns/a", "1")
		b.waitIdle()
		b.set("ns/a", "2")
		b.waitIdle()
		assert.Equal(b, []string{"add ns/a=1 (initial)", "update ns/a 1->2"}, added.Events())
	}},
	{"a registration belongs to its own informer", func(b *bubble) {
		stranger := b.impl.New(b, NewContractSource(), InformerConfig{})
		foreign, err := stranger.AddEventHandler(func(Event) {}, -1)
		require.NoError(b, err)
		h := b.handler()
		b.start()
		err = b.informer.RemoveEventHandler(foreign)
		if b.has(RefusesForeign) {
			assert.Error(b, err)
		} else {
			assert.NoError(b, err)
		}
		b.set("ns/a", "1")
		b.waitIdle()
		assert.Len(b, h.Events(), 1, "no other handler is removed")
	}},
	{"a removal that waits", func(b *bubble) {
		informer, can := b.informer.(ShutDowner)
		require.Equal(b, b.has(WaitsForHandlers), can)
		if !can {
			return
		}
		g := b.newLatch()
		h, registration := b.handlerDuring(func(Event) { g.wait() })
		b.start()
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.waitIdle()
		var result error
		done := make(chan struct{})
		go func() {
			defer close(done)
			result = informer.ShutDownEventHandler(context.Background(), registration)
		}()
		b.waitIdle()
		select {
		case <-done:
			b.Error("the removal did not wait for the callback")
		default:
		}
		g.open()
		b.await(done,
			"the removal still waits an hour after the callback has returned: the end of the handler is not reported")
		assert.NoError(b, result)
		assert.Equal(b, []string{"add ns/a=1"}, h.Events())
		assert.NoError(b, informer.ShutDownEventHandler(context.Background(), registration), "again: nothing to do")
	}},
	{"removals that wait, inside a callback while the informer may wait for it", func(b *bubble) {
		informer, can := b.informer.(ShutDowner)
		if !can {
			return
		}
		g := b.newLatch()
		var other, own Registration
		calls := 0
		_, own = b.handlerDuring(func(Event) {
			calls++
			g.wait()
			assert.NoError(b, informer.ShutDownEventHandler(context.Background(), other))
			err := informer.ShutDownEventHandler(context.Background(), own)
			assert.Error(b, err, "a handler cannot wait for itself")
		})
		_, other = b.handlerDuring(nil)
		stays := b.handler()
		b.start()
		want := change3000Times(b, nil)
		g.open()
		b.waitIdle()
		assert.Equal(b, 1, calls, "it is removed all the same")
		b.leadsTo(want, stays)
	}},
	{"a hundred goroutines add and remove while events flow", func(b *bubble) {
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
		b.waitIdle()
		got, err := b.replay(steady)
		require.NoError(b, err)
		assert.Equal(b, content(b.source), got)
	}},
}...)
