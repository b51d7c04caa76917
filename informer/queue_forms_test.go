package informer_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/fast"
	"orrery/deltafifo/inorder"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// Reflector, queue, process loop and store are the informer without its handlers. They work with
// every form of the queue, including the textbook form, which makes the reflector wait for a
// process function.
func TestReflectorAndLoopOnEachFormOfTheQueue(t *testing.T) {
	type namespaces = deltafifo.Interface[*api.Namespace]
	for name, newQueue := range map[string]func(deltafifo.Config[*api.Namespace]) namespaces{
		"textbook": func(cfg deltafifo.Config[*api.Namespace]) namespaces { return deltafifo.New(cfg) },
		"fast":     func(cfg deltafifo.Config[*api.Namespace]) namespaces { return fast.New(cfg) },
		"inorder":  func(cfg deltafifo.Config[*api.Namespace]) namespaces { return inorder.New(cfg) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := informertest.NewNamespaceSource()
				for _, name := range []string{"a", "b", "c"} {
					source.Add(informertest.Namespace(name))
				}
				store := indexer.New(indexer.Config[*api.Namespace]{KeyFunc: informer.MetaNamespaceKeyFunc[*api.Namespace]})
				queue := newQueue(deltafifo.Config[*api.Namespace]{
					KeyFunc: informer.MetaNamespaceKeyFunc[*api.Namespace], KnownObjects: store,
				})
				r := reflector.New(reflector.Config[*api.Namespace]{
					ListerWatcher: source, Store: queue, KeyFunc: informer.MetaNamespaceKeyFunc[*api.Namespace], ResyncPeriod: time.Hour,
				})

				ctx, cancel := context.WithCancel(t.Context())
				stop := context.AfterFunc(ctx, queue.Close)
				defer stop()
				ended := make(chan string, 2)
				go func() {
					r.Run(ctx)
					ended <- "reflector"
				}()
				var processing, syncs atomic.Int64
				go func() {
					defer func() { ended <- "loop" }()
					for {
						_, err := queue.Pop(func(key string, d deltafifo.Deltas[*api.Namespace], _ bool) error {
							time.Sleep(time.Duration(processing.Load()))
							_ = queue.HasSynced() // needs no lock
							for _, delta := range d {
								switch delta.Type {
								case deltafifo.Deleted:
									store.DeleteKey(key)
								case deltafifo.Sync:
									syncs.Add(1)
								default:
									require.NoError(t, store.Update(delta.Object))
								}
							}
							return nil
						})
						if err != nil {
							assert.ErrorIs(t, err, deltafifo.ErrFIFOClosed)
							return
						}
					}
				}()
				inStore := func() []string { return slices.Sorted(slices.Values(store.ListKeys())) }

				<-queue.Synced()
				assert.Equal(t, []string{"a", "b", "c"}, inStore(), "synced: the first list is in the store")

				source.Delete("a")
				source.Add(informertest.Namespace("d"))
				synctest.Wait()
				assert.Equal(t, []string{"b", "c", "d"}, inStore())

				// A slow process function: the queue can be inspected meanwhile, and everything
				// arrives.
				processing.Store(int64(time.Minute))
				source.Modify(informertest.Namespace("b"))
				source.Delete("c")
				source.Add(informertest.Namespace("e"))
				looked := make(chan struct{})
				go func() {
					defer close(looked)
					_, _ = queue.Len(), queue.Snapshot()
				}()
				time.Sleep(10 * time.Minute)
				<-looked
				processing.Store(0)
				assert.Equal(t, []string{"b", "d", "e"}, inStore())
				assert.Zero(t, queue.Len())

				// The watch breaks, a deletion is missed, and the resourceVersion has expired: a
				// list reveals the deletion.
				source.Lose("b")
				source.Expire()
				source.Cut(nil)
				time.Sleep(10 * time.Minute)
				assert.Equal(t, []string{"d", "e"}, inStore(), "a list implies a deletion that no watch reported")

				time.Sleep(time.Hour)
				assert.EqualValues(t, 2, syncs.Load(), "a resync repeats what the store holds")

				// Close reaches a loop that is processing.
				processing.Store(int64(time.Minute))
				source.Add(informertest.Namespace("f"))
				synctest.Wait()
				cancel()
				assert.ElementsMatch(t, []string{"reflector", "loop"}, []string{<-ended, <-ended})
			})
		})
	}
}
