package informer_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// scripted is a queue that hands out the deltas of the test.
type scripted struct {
	informer.Queue[head]
	next   chan deltafifo.Deltas[head]
	closed chan struct{}
}

func (s scripted) Pop(process func(string, deltafifo.Deltas[head], bool) error) (deltafifo.Deltas[head], error) {
	select {
	case d := <-s.next:
		return d, process("a", d, false)
	case <-s.closed:
		return nil, deltafifo.ErrFIFOClosed
	}
}

func (s scripted) Close() {
	close(s.closed)
	s.Queue.Close()
}

// without returns the object a without a resource version.
func without(value string) head {
	obj := &api.PartialObjectMetadata{}
	obj.Name, obj.Labels = "a", map[string]string{informertest.ValueLabel: value}
	return obj
}

// What a handler without resync receives for the deltas of one object, and how many events were
// distributed.
func TestDeltas(t *testing.T) {
	delta := func(deltaType deltafifo.DeltaType, value string) deltafifo.Delta[head] {
		return deltafifo.Delta[head]{Type: deltaType, Object: without(value)}
	}
	for _, test := range []struct {
		name        string
		deltas      deltafifo.Deltas[head]
		events      []string
		distributed int
		failures    int
	}{
		{"all of them, oldest first", deltafifo.Deltas[head]{delta(deltafifo.Added, "1"), delta(deltafifo.Updated, "2"), delta(deltafifo.Deleted, "3")},
			[]string{"add a=1", "update a 1->2", "delete a=3"}, 3, 0},
		{"a failure concerns one delta", deltafifo.Deltas[head]{delta(deltafifo.Added, "bad"), delta(deltafifo.Updated, "2")},
			[]string{"add a=bad", "update a bad->2"}, 2, 1},
		{"a list that repeats an object without a version may have changed it", deltafifo.Deltas[head]{delta(deltafifo.Added, "1"), delta(deltafifo.Replaced, "1")},
			[]string{"add a=1", "update a 1->1"}, 2, 0},
		{"a resync is not delivered", deltafifo.Deltas[head]{delta(deltafifo.Added, "1"), delta(deltafifo.Sync, "1")}, []string{"add a=1"}, 1, 0},
		{"a tombstone of an object that has gone", deltafifo.Deltas[head]{deltafifo.Tombstone("a", without("1"))}, nil, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue := scripted{next: make(chan deltafifo.Deltas[head]), closed: make(chan struct{})}
				var mu sync.Mutex
				distributed, failures := 0, 0
				count := func(n *int) {
					mu.Lock()
					defer mu.Unlock()
					*n++
				}
				inf := informer.NewSharedIndexInformer(informertest.NewContractSource(), informer.Config[head]{
					Gears: informer.Gears[head]{NewQueue: func(cfg deltafifo.Config[head]) informer.Queue[head] {
						queue.Queue = deltafifo.New(cfg)
						return queue
					}},
					Indexers: indexer.Indexers[head]{"contract": func(obj head) ([]string, error) {
						if valueOf(obj) == "bad" {
							return nil, errors.New("refused by the test")
						}
						return nil, nil
					}},
					WatchErrorHandler: func(context.Context, error) { count(&failures) },
					Trace:             &informer.Trace{Distributed: func(informer.EventInfo, int) { count(&distributed) }},
				})
				recorder := &informertest.Recorder{}
				_, err := inf.AddEventHandlerWithOptions(eventHandler(recorder.Handle), informer.HandlerOptions{ResyncPeriod: -1})
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { _ = inf.Run(ctx) })
				queue.next <- test.deltas
				synctest.Wait()
				assert.Equal(t, test.events, append([]string(nil), recorder.Events()...))
				cancel()
				running.Wait()
				assert.Equal(t, test.distributed, distributed, "events that were distributed to a listener")
				assert.Equal(t, test.failures, failures)
			})
		})
	}
}
