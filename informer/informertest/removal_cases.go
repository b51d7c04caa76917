package informertest

import (
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
