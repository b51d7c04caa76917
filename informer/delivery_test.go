package informer_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// stuck is a handler that blocks in its first callback until it is released.
func stuck(release <-chan struct{}, l *log) informer.ResourceEventHandler[*api.Namespace] {
	return informer.ResourceEventHandlerFuncs[*api.Namespace]{
		AddFunc: func(obj *api.Namespace, initial bool) {
			<-release
			l.OnAdd(obj, initial)
		},
		UpdateFunc: l.OnUpdate,
		DeleteFunc: l.OnDelete,
	}
}

// TestHandlersChooseWhetherTheirBacklogIsMerged: one informer with one handler of each kind, all
// of them stuck.
func TestHandlersChooseWhetherTheirBacklogIsMerged(t *testing.T) {
	inBubble(t, config{Gears: fastGears}, func(n *namespaces) {
		release := make(chan struct{})
		logs := make([]log, 2)
		for i, opts := range []informer.HandlerOptions{{}, {Coalescing: true}} {
			_, err := n.AddEventHandlerWithOptions(stuck(release, &logs[i]), opts)
			require.NoError(t, err)
		}
		n.start()
		n.add("a")
		for range 5 {
			n.modify("a")
		}
		n.delete("a")
		n.add("b")
		h := n.Snapshot().Handlers
		assert.Equal(t, 8, h[0].Pending)
		assert.Equal(t, 3, h[1].Pending)
		assert.EqualValues(t, 5, h[1].Merged, "four updates into the first, and all into the deletion")
		close(release)
		synctest.Wait()
		all := log{"add a", "update a", "update a", "update a", "update a", "update a", "delete a", "add b"}
		assert.Equal(t, all, logs[0])
		assert.Equal(t, log{"add a", "delete a", "add b"}, logs[1])
		assert.Zero(t, n.Snapshot().Handlers[1].Pending)
		assert.EqualValues(t, 3, n.Snapshot().Handlers[1].Handled)
	})
}

// TestQueuedNumberIsThatOfTheLastEvent: the mark at the end of the first list and a resync that is
// not due for the handler are no events of the handler, also if they are in one batch with some.
func TestQueuedNumberIsThatOfTheLastEvent(t *testing.T) {
	type notification = informer.Notification[head]
	add := func(number uint64) notification {
		obj := &api.PartialObjectMetadata{}
		return notification{Kind: informer.EventAdd, Number: number, Key: fmt.Sprint(number), New: obj}
	}
	resync := add(9)
	resync.Kind, resync.Sync = informer.EventUpdate, true
	mark := notification{Kind: informer.EventSynced}
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		t.Run(name, func(t *testing.T) {
			for _, batch := range [][]notification{
				{add(7), mark}, {mark, add(7)}, {add(6), mark, add(7), mark}, {add(7), resync, mark},
			} {
				synctest.Test(t, func(t *testing.T) {
					gears, processor := checked(forms[name].gears, nil)
					var number uint64
					trace := &informer.Trace{HandlerQueued: func(_ informer.HandlerInfo, q informer.QueuedInfo) {
						number = max(number, q.Number)
						assert.Equal(t, q.Count == 0, q.Number == 0, "%d events have the number %d", q.Count, q.Number)
					}}
					inf := informer.NewSharedIndexInformer(nil, informer.Config[head]{Gears: gears, Trace: trace})
					_, err := inf.AddEventHandler(eventHandler(func(informertest.Event) {}))
					require.NoError(t, err)
					ctx, cancel := context.WithCancel(t.Context())
					var running sync.WaitGroup
					running.Go(func() { processor.Run(ctx) })
					defer running.Wait()
					defer cancel()
					synctest.Wait()
					for _, n := range batch {
						processor.Distribute(n)
					}
					processor.Flush()
					synctest.Wait()
					assert.EqualValues(t, 7, number, "the number of the last event")
				})
			}
		})
	}
}
