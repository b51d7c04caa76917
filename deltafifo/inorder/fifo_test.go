package inorder_test

import (
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/inorder"
)

// positioned is a store that knows where it is, and notes what it held when it got there.
type positioned struct {
	*deltafifotest.Consumer
	reached []string
}

func (p *positioned) Bookmark(resourceVersion string) {
	text := resourceVersion + ":"
	for _, o := range p.Objects() {
		text += " " + o
	}
	p.reached = append(p.reached, text)
}

func newQueue(known ...*object) (*inorder.RealFIFO[*object], *positioned) {
	store := &positioned{Consumer: deltafifotest.NewConsumer(known...)}
	return inorder.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store}), store
}

// drain pops until nothing waits and returns what was handed out.
func drain(t *testing.T, queue *inorder.RealFIFO[*object], store *positioned) []string {
	t.Helper()
	told := []string{}
	for queue.Len() > 0 {
		_, err := queue.Pop(func(key string, d deltas, initial bool) error {
			require.Len(t, d, 1, "one delta at a time")
			told = append(told, deltafifotest.DescribeAll(d))
			return store.Process(key, d, initial)
		})
		require.NoError(t, err)
	}
	return told
}

func TestNewNeedsAKeyFunc(t *testing.T) {
	assert.Panics(t, func() { inorder.New(deltafifo.Config[*object]{}) })
}

// The point of the order: when the store is told of a version, it holds exactly the state of that version.
func TestTheStoreIsAsOfTheVersionThatItIsToldOf(t *testing.T) {
	queue, store := newQueue(obj("gone", 1))
	require.NoError(t, queue.Replace([]*object{obj("a", 2), obj("b", 3)}, "3"))
	require.NoError(t, queue.Update(obj("a", 4)))
	queue.Bookmark("5")
	require.NoError(t, queue.Add(obj("c", 6)))
	require.NoError(t, queue.Update(obj("b", 7)))
	queue.Bookmark("8")
	require.NoError(t, queue.Replace([]*object{obj("c", 6)}, "9"))
	require.NoError(t, queue.Replace(nil, "10"))
	require.NoError(t, queue.Replace(nil, "11"))
	assert.Empty(t, store.reached, "nothing has been processed")
	drain(t, queue, store)
	assert.Equal(t, []string{"3: a@2 b@3", "5: a@4 b@3", "8: a@4 b@7 c@6", "9: c@6", "10:", "11:"}, store.reached)
}

func TestABookmarkWithNothingBeforeItPassesAtOnce(t *testing.T) {
	queue, store := newQueue(obj("a", 1))
	queue.Bookmark("2")
	assert.Equal(t, []string{"2: a@1"}, store.reached)
	assert.Zero(t, queue.Len())
	assert.False(t, queue.HasSynced(), "a bookmark is no population")
	queue.Close()
	queue.Bookmark("3")
	assert.Equal(t, []string{"2: a@1"}, store.reached, "nothing comes in after Close")
}

func TestABookmarkWaitsForTheProcessFunction(t *testing.T) {
	queue, store := newQueue()
	require.NoError(t, queue.Add(obj("a", 1)))
	_, err := queue.Pop(func(key string, d deltas, initial bool) error {
		queue.Bookmark("2")
		assert.Empty(t, store.reached, "the store does not show a yet")
		return store.Process(key, d, initial)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"2: a@1"}, store.reached)
}

func TestAStoreWithoutBookmarks(t *testing.T) {
	queue := inorder.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: deltafifotest.NewConsumer()})
	queue.Bookmark("2")
	assert.Zero(t, queue.Len())
}

// Nothing comes between the deltas of a list, and what came in while it was processed comes after them.
func TestAListAndAResyncAreOneStep(t *testing.T) {
	queue, store := newQueue(obj("x", 1), obj("y", 1))
	require.NoError(t, queue.Update(obj("x", 2)))
	require.NoError(t, queue.Replace([]*object{obj("b", 3), obj("a", 3)}, "3"))
	require.NoError(t, queue.Resync())
	require.NoError(t, queue.Update(obj("b", 4)))
	assert.Equal(t, []deltafifo.KeySnapshot{
		{Key: "x", Types: []deltafifo.DeltaType{deltafifo.Updated}},
		{Types: []deltafifo.DeltaType{inorder.ReplacedAll}},
		{Types: []deltafifo.DeltaType{inorder.SyncAll}},
		{Key: "b", Types: []deltafifo.DeltaType{deltafifo.Updated}},
	}, queue.Snapshot().Waiting, "the list has not had its turn")
	assert.Equal(t, []string{
		"Updated x@2",
		"Deleted x@2 (inferred)", "Deleted y@1 (inferred)", "Replaced b@3", "Replaced a@3",
		"Sync a@3", "Sync b@3",
		"Updated b@4",
	}, drain(t, queue, store))
}

func TestInitialPopulationWithAListThatWaits(t *testing.T) {
	queue, store := newQueue(obj("known", 1))
	require.NoError(t, queue.Resync())
	_, err := queue.Pop(func(key string, d deltas, initial bool) error {
		assert.False(t, initial, "the Sync came before the list")
		require.NoError(t, queue.Replace([]*object{obj("a", 2)}, "2"))
		assert.Equal(t, 1, queue.Snapshot().InitialLeft)
		return store.Process(key, d, initial)
	})
	require.NoError(t, err)
	assert.Equal(t, 2, queue.Snapshot().InitialLeft, "the list and its tombstone")
	assert.False(t, queue.HasSynced())
	assert.Equal(t, []string{"Deleted known@1 (inferred)", "Replaced a@2"}, drain(t, queue, store))
	assert.True(t, queue.HasSynced())
}

// What waits when the first list comes is part of the initial population.
func TestInitialPopulationWithASyncThatWaits(t *testing.T) {
	queue, store := newQueue(obj("known", 1))
	require.NoError(t, queue.Resync())
	require.NoError(t, queue.Replace([]*object{obj("known", 2)}, "2"))
	for _, want := range []string{"Sync known@1", "Replaced known@2"} {
		assert.False(t, queue.HasSynced(), "HasSynced before %s was processed", want)
		_, err := queue.Pop(func(key string, d deltas, initial bool) error {
			assert.True(t, initial)
			assert.Equal(t, want, deltafifotest.DescribeAll(d))
			return store.Process(key, d, initial)
		})
		require.NoError(t, err)
	}
	assert.True(t, queue.HasSynced())
}

func TestObjectsAreCollected(t *testing.T) {
	queue, _ := newQueue()
	pointer := func() weak.Pointer[object] {
		a := obj("a", 1)
		require.NoError(t, queue.Add(a))
		return weak.Make(a)
	}()
	require.NoError(t, queue.Add(obj("b", 1))) // the queue is not empty afterwards
	_, err := queue.Pop(func(string, deltas, bool) error { return nil })
	require.NoError(t, err)
	runtime.GC()
	assert.Nil(t, pointer.Value(), "what was handed out can be collected")
	assert.Equal(t, 1, queue.Len()) // queue is alive until here
}

// An error costs its delta, and an ErrRequeue is an error like any other.
func TestNothingIsPutBack(t *testing.T) {
	queue, store := newQueue()
	require.NoError(t, queue.Add(obj("a", 1)))
	require.NoError(t, queue.Update(obj("a", 2)))
	back := &deltafifo.ErrRequeue{Err: errors.New("later")}
	_, err := queue.Pop(func(string, deltas, bool) error { return back })
	assert.Same(t, back, err)
	assert.Equal(t, []string{"Updated a@2"}, drain(t, queue, store))
}

// A process function may call the queue, since the lock is free then.
func TestProcessMayCallTheQueue(t *testing.T) {
	queue, store := newQueue()
	require.NoError(t, queue.Add(obj("a", 1)))
	_, err := queue.Pop(func(key string, d deltas, initial bool) error {
		require.NoError(t, queue.Update(obj("a", 2)))
		assert.Equal(t, 1, queue.Len())
		assert.Equal(t, "a", queue.Snapshot().InFlight.Key)
		queue.Close()
		return store.Process(key, d, initial)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"Updated a@2"}, drain(t, queue, store))
	assert.Equal(t, []string{"a@2"}, store.Objects())
}

// One key that changes all the time does not hold back what came before its changes, and delays what
// came after them: that is the price of the order.
func TestABusyKeyFillsTheQueue(t *testing.T) {
	queue, store := newQueue()
	for v := range 1000 {
		require.NoError(t, queue.Update(obj("busy", v)))
	}
	require.NoError(t, queue.Add(obj("quiet", 1)))
	assert.Equal(t, 1001, queue.Len())
	told := drain(t, queue, store)
	assert.Equal(t, "Updated busy@0", told[0])
	assert.Equal(t, "Added quiet@1", told[1000])
}
