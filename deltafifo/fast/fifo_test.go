package fast_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/fast"
)

type (
	object = deltafifotest.Object
	deltas = deltafifo.Deltas[*deltafifotest.Object]
)

var obj = deltafifotest.Obj

func TestContract(t *testing.T) {
	deltafifotest.Run(t, deltafifotest.Implementation{
		New: func(cfg deltafifo.Config[*object]) deltafifotest.Queue { return fast.New(cfg) },
	})
}

// newQueue returns a new queue and its consumer.
func newQueue(known ...*object) (*fast.DeltaFIFO[*object], *deltafifotest.Consumer) {
	store := deltafifotest.NewConsumer(known...)
	return fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store}), store
}

// waiting pops everything without processing it and returns it as text.
func waiting(t *testing.T, queue *fast.DeltaFIFO[*object]) []string {
	t.Helper()
	require.NoError(t, queue.Check())
	texts := []string{}
	for queue.Len() > 0 {
		_, err := queue.Pop(func(key string, d deltas, _ bool) error {
			texts = append(texts, key+": "+deltafifotest.DescribeAll(d))
			return nil
		})
		require.NoError(t, err)
	}
	return texts
}

func TestNewNeedsAKeyFunc(t *testing.T) {
	assert.Panics(t, func() { fast.New(deltafifo.Config[*object]{}) })
}

func TestProcessMayCallTheQueue(t *testing.T) {
	queue, store := newQueue(obj("known", 1))
	require.NoError(t, queue.Add(obj("a", 1)))
	_, err := queue.Pop(func(key string, d deltas, initial bool) error {
		assert.NoError(t, queue.Update(obj("a", 2)))
		assert.NoError(t, queue.Resync())
		assert.Equal(t, 2, queue.Len())
		assert.True(t, queue.HasSynced())
		assert.Equal(t, "a", queue.Snapshot().InFlight.Key)
		assert.NoError(t, queue.Check())
		return store.Process(key, d, initial)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"a: Updated a@2", "known: Sync known@1"}, waiting(t, queue))
}

func TestRequeuedDeltasTakeThePlaceOfTheNewerOnes(t *testing.T) {
	queue, _ := newQueue()
	require.NoError(t, queue.Add(obj("a", 1)))
	_, err := queue.Pop(func(string, deltas, bool) error {
		require.NoError(t, queue.Add(obj("b", 1)))
		require.NoError(t, queue.Update(obj("a", 2)))
		require.NoError(t, queue.Add(obj("c", 1)))
		return &deltafifo.ErrRequeue{}
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"b: Added b@1", "a: Added a@1, Updated a@2", "c: Added c@1"}, waiting(t, queue))
}

// Deltas that Pop has returned do not change when their requeued copy does.
func TestReturnedDeltasDoNotChange(t *testing.T) {
	queue, _ := newQueue(obj("a", 1))
	require.NoError(t, queue.Replace(nil, "1"))
	back := func(string, deltas, bool) error { return &deltafifo.ErrRequeue{} }
	returned, err := queue.Pop(back)
	require.NoError(t, err)
	require.NoError(t, queue.Delete(obj("a", 2))) // takes the place of the tombstone
	require.NoError(t, queue.Add(obj("a", 3)))
	assert.Equal(t, "Deleted a@1 (inferred)", deltafifotest.DescribeAll(returned))
	assert.Equal(t, []string{"a: Deleted a@2, Added a@3"}, waiting(t, queue))
}

// A process function that ends its goroutine, as t.FailNow does, must not block the queue.
func TestProcessMayEndItsGoroutine(t *testing.T) {
	queue, _ := newQueue()
	require.NoError(t, queue.Replace([]*object{obj("a", 1)}, "1"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = queue.Pop(func(string, deltas, bool) error {
			runtime.Goexit()
			return nil
		})
	}()
	<-done
	assert.True(t, queue.HasSynced())
	assert.NoError(t, queue.Check())
	require.NoError(t, queue.Add(obj("b", 1)))
	assert.Equal(t, []string{"b: Added b@1"}, waiting(t, queue))
}

// A Sync can be in flight when the first list arrives. The key counts as initial if the list or its
// tombstone queues it, and no longer if the tombstone is cancelled.
func TestFirstListWhileASyncIsInFlight(t *testing.T) {
	queue, store := newQueue(obj("a", 1))
	require.NoError(t, queue.Resync())
	_, err := queue.Pop(func(string, deltas, bool) error {
		require.NoError(t, queue.Replace(nil, "1"))
		assert.Equal(t, 1, queue.Snapshot().InitialLeft)
		return store.Process("a", deltas{{Type: deltafifo.Deleted, Object: obj("a", 1)}}, false)
	})
	require.NoError(t, err)
	assert.NoError(t, queue.Check())
	assert.Zero(t, queue.Len())
	assert.True(t, queue.HasSynced())
}

// If the Sync is requeued in the same situation, the key stays initial because of the list.
func TestFirstListWhileASyncIsInFlightThatIsPutBack(t *testing.T) {
	queue, _ := newQueue(obj("a", 1))
	require.NoError(t, queue.Resync())
	_, err := queue.Pop(func(string, deltas, bool) error {
		require.NoError(t, queue.Replace([]*object{obj("a", 2)}, "1"))
		return &deltafifo.ErrRequeue{}
	})
	require.NoError(t, err)
	assert.False(t, queue.HasSynced())
	assert.Equal(t, []string{"a: Sync a@1, Replaced a@2"}, waiting(t, queue))
	assert.True(t, queue.HasSynced())
}

// ErrFIFOClosed means that everything has been processed, also the deltas of another Pop. Then
// every blocked Pop returns it.
func TestClosedWhileAnotherPopIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue, store := newQueue()
		require.NoError(t, queue.Add(obj("a", 1)))
		goOn := make(chan struct{})
		go func() {
			_, _ = queue.Pop(func(key string, d deltas, initial bool) error {
				<-goOn
				return store.Process(key, d, initial)
			})
		}()
		synctest.Wait()
		var over atomic.Int32
		for range 3 {
			go func() {
				_, err := queue.Pop(store.Process)
				assert.ErrorIs(t, err, deltafifo.ErrFIFOClosed)
				assert.Equal(t, []string{"a@1"}, store.Objects())
				over.Add(1)
			}()
		}
		queue.Close()
		synctest.Wait()
		assert.Zero(t, over.Load())
		close(goOn)
		synctest.Wait()
		assert.EqualValues(t, 3, over.Load())
	})
}

func TestSnapshot(t *testing.T) {
	queue, _ := newQueue()
	assert.Equal(t, deltafifo.Snapshot{Waiting: []deltafifo.KeySnapshot{}}, queue.Snapshot())

	require.NoError(t, queue.Replace([]*object{obj("a", 1), obj("b", 1)}, "1"))
	require.NoError(t, queue.Update(obj("b", 2)))
	require.NoError(t, queue.Add(obj("c", 1)))
	_, err := queue.Pop(func(string, deltas, bool) error {
		assert.Equal(t, deltafifo.Snapshot{
			Waiting: []deltafifo.KeySnapshot{
				{Key: "b", Types: []deltafifo.DeltaType{deltafifo.Replaced, deltafifo.Updated}, IsInInitialList: true},
				{Key: "c", Types: []deltafifo.DeltaType{deltafifo.Added}},
			},
			InFlight:    &deltafifo.KeySnapshot{Key: "a", Types: []deltafifo.DeltaType{deltafifo.Replaced}, IsInInitialList: true},
			InitialLeft: 2,
		}, queue.Snapshot())
		return nil
	})
	require.NoError(t, err)

	queue.Close()
	waiting(t, queue)
	assert.Equal(t, deltafifo.Snapshot{Waiting: []deltafifo.KeySnapshot{}, Synced: true, Closed: true}, queue.Snapshot())
}
