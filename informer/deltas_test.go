package informer_test

import (
	"context"
	"errors"
	"strings"
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
	for _, test := range []struct {
		name, deltas, events  string
		distributed, failures int
	}{
		{"all of them, oldest first", "Added 1; Updated 2; Deleted 3", "add a=1; update a 1->2; delete a=3", 3, 0},
		{"a failure concerns one delta", "Added bad; Updated 2", "add a=bad; update a bad->2", 2, 1},
		{"a list that repeats an object without a version may have changed it",
			"Added 1; Replaced 1", "add a=1; update a 1->1", 2, 0},
		{"a resync is not delivered", "Added 1; Sync 1", "add a=1", 1, 0},
		// A watch reported the deletion while the list without the object was under way.
		{"a tombstone of an object that has gone", "Tombstone 1", "", 0, 0},
		{"a tombstone has the state in the store", "Added 1; Tombstone 2", "add a=1; delete a=1 (unknown)", 2, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue := scripted{next: make(chan deltafifo.Deltas[head]), closed: make(chan struct{})}
				var mu sync.Mutex
				distributed, failures := 0, 0
				var numbers, each []uint64
				var deltas deltafifo.Deltas[head]
				for i, text := range strings.Split(test.deltas, "; ") {
					deltaType, value, _ := strings.Cut(text, " ")
					d := deltafifo.Delta[head]{Type: deltafifo.DeltaType(deltaType), Object: without(value)}
					if deltaType == "Tombstone" {
						d = deltafifo.Tombstone("a", d.Object)
					}
					deltas, each = append(deltas, d), append(each, uint64(i+1))
				}
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
					Trace: &informer.Trace{
						Applied: func(a informer.AppliedInfo) {
							numbers = append(numbers, a.Number)
							assert.Equal(t, deltas[a.Number-1].Tombstone != nil, a.Tombstone,
								"the hook says which deltas are tombstones")
						},
						Distributed: func(informer.EventInfo, int) { count(&distributed) },
					},
				})
				recorder := &informertest.Recorder{}
				_, err := inf.AddEventHandlerWithOptions(eventHandler(recorder.Handle),
					informer.HandlerOptions{ResyncPeriod: -1})
				require.NoError(t, err)
				stop := running(t, inf)
				queue.next <- deltas
				synctest.Wait()
				assert.Equal(t, test.events, strings.Join(recorder.Events(), "; "))
				stop()
				assert.Equal(t, each, numbers,
					"each delta is reported with traceApplied, and has a number of its own, even if it changes nothing")
				assert.Equal(t, test.distributed, distributed, "events that were distributed to a listener")
				assert.Equal(t, test.failures, failures)
			})
		})
	}
}
