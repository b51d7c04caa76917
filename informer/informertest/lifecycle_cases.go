package informertest

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var lifecycleCases = append(cases([]script{
	{name: "handlers receive the first list and then the informer is synced",
		before: "set ns/a 1; set ns/b 1; unsynced", steps: "synced", anyOrder: true,
		want: "add ns/a=1 (initial); add ns/b=1 (initial)"},
	{name: "an empty list counts as a list",
		steps: "synced; set ns/a 1",
		want:  "add ns/a=1"}, // an addition after the list is not initial
	{name: "nothing is synced while the server does not answer",
		before: "set ns/a 1; disconnect", steps: "unsynced; reconnect; synced",
		want: "add ns/a=1 (initial)"},
	{name: "a registration is synced when its callbacks have returned, the informer earlier", handlers: "slow never",
		before: "set ns/a 1", steps: "filled; unsynced 0; synced 1; open; synced",
		want: "add ns/a=1 (initial) | add ns/a=1 (initial)"},
	{name: "Run waits for the running callback, and drops the backlog", handlers: "slow",
		steps: "set ns/a 1; set ns/b 1; cancel; running; open",
		want:  "add ns/a=1"},
}), []contractCase{
	{"the version follows the collection", func(b *bubble) {
		assert.Empty(b, b.informer.LastSyncResourceVersion())
		b.start()
		assert.Equal(b, b.source.ResourceVersion(), b.informer.LastSyncResourceVersion())
		b.set("ns/a", "1")
		b.waitIdle()
		assert.Equal(b, b.source.ResourceVersion(), b.informer.LastSyncResourceVersion())
	}},
	{"after Run there are no more events", func(b *bubble) {
		h := b.handler()
		b.start()
		assert.False(b, b.informer.IsStopped())
		b.set("ns/a", "1")
		b.waitIdle()
		b.stop()
		assert.True(b, b.informer.IsStopped())
		assert.Zero(b, b.source.Watchers())
		h.Reset()
		b.set("ns/a", "2")
		b.waitIdle()
		assert.Empty(b, h.Events())
		assert.Equal(b, map[string]string{"ns/a": "1"}, b.informer.Content(), "the store is still readable")
	}},
	{"a stopped informer refuses handlers and does not start again", func(b *bubble) {
		registration, err := b.informer.AddEventHandler(func(Event) {}, -1)
		require.NoError(b, err)
		b.start()
		b.stop()
		_, err = b.informer.AddEventHandler(func(Event) {}, -1)
		require.Error(b, err)
		assert.NoError(b, b.informer.RemoveEventHandler(registration), "removing is still possible")
		err = b.informer.Run(context.Background()) // returns at once
		assert.Equal(b, b.has(RefusesSecondRun), err != nil, "%v", err)
	}},
	{"a running informer is not started again", func(b *bubble) {
		b.start()
		lists := len(b.source.Requests())
		err := b.informer.Run(context.Background())
		assert.Equal(b, b.has(RefusesSecondRun), err != nil, "%v", err)
		assert.Len(b, b.source.Requests(), lists)
		assert.False(b, b.informer.IsStopped())
	}},
	{"a handler that is added while the informer ends is refused, or ends with it", func(b *bubble) {
		b.set("ns/a", "1")
		b.start()
		var adding sync.WaitGroup
		for i := range 200 {
			adding.Go(func() {
				time.Sleep(time.Duration(i % 3))
				registration, err := b.informer.AddEventHandler(func(Event) {}, -1)
				if err != nil {
					return
				}
				if ender, ok := registration.(interface{ Ended() <-chan struct{} }); ok {
					<-ender.Ended() // the bubble fails otherwise
				}
			})
		}
		time.Sleep(time.Nanosecond)
		b.stop()
		adding.Wait()
	}},
	{"an informer that was never started is not stopped", func(b *bubble) {
		_, registration := b.handlerDuring(nil)
		assert.False(b, b.informer.IsStopped())
		assert.NoError(b, b.informer.RemoveEventHandler(registration))
	}},
	{"Run with an ended context leaves nothing behind", func(b *bubble) {
		b.handler()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = b.informer.Run(ctx)
		assert.True(b, b.informer.IsStopped())
		assert.Zero(b, b.source.Watchers())
	}},
	{"handlers may be added while the informer starts (kubernetes/kubernetes#136509)", func(b *bubble) {
		for i := range 50 {
			b.set("ns/"+strconv.Itoa(i), "1")
		}
		b.make(InformerConfig{ResyncPeriod: time.Second})
		recorders := make([]*Recorder, 20)
		var adding sync.WaitGroup
		for i := range recorders {
			adding.Go(func() { recorders[i] = b.handler() })
		}
		b.start()
		adding.Wait()
		b.waitIdle()
		for _, h := range recorders {
			got, err := b.replay(h)
			require.NoError(b, err)
			assert.Equal(b, content(b.source), got)
		}
	}},
}...)
