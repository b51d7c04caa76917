package inorder_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/inorder"
)

type (
	object = deltafifotest.Object
	deltas = deltafifo.Deltas[*object]
)

var obj = deltafifotest.Obj

func TestContract(t *testing.T) {
	deltafifotest.Run(t, deltafifotest.Implementation{
		New: func(cfg deltafifo.Config[*object]) deltafifotest.Queue { return inorder.New(cfg) },
		Lacks: map[deltafifotest.Capability]string{
			deltafifotest.Accumulation: "deltas grouped by key are not in order of arrival",
			deltafifotest.KnowsWhatWaits: "a delta is compared with the store at the front of the queue; " +
				"without a store there is nothing to compare",
			deltafifotest.Requeue: "requeued deltas are out of order after later ones, and before them " +
				"they block every key",
			deltafifotest.RequeueStaysInitial: "it has no requeue",
		},
	})
}

// positioned is a store that records its content at each resource version that it reaches.
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

// drain pops until the queue is empty and returns the deltas.
func drain(t *testing.T, queue *inorder.RealFIFO[*object], store *positioned) []string {
	t.Helper()
	blocked := time.AfterFunc(time.Hour, func() {
		t.Errorf("want Pop to hand out one of %d items, got a Pop that blocks forever", queue.Len())
		queue.Close()
	})
	defer blocked.Stop()
	reported := []string{}
	for queue.Len() > 0 {
		require.Less(t, len(reported), 10_000, "want each delta once, got an endless Pop")
		_, err := queue.Pop(func(key string, d deltas, initial bool) error {
			require.Len(t, d, 1, "one delta at a time")
			reported = append(reported, deltafifotest.DescribeAll(d))
			return store.Process(key, d, initial)
		})
		require.NoError(t, err)
	}
	return reported
}

// TestOrderOfArrival tests what only this form does, each behaviour in a bubble: a Pop that blocks
// forever fails at once.
func TestOrderOfArrival(t *testing.T) {
	for _, behaviour := range []struct {
		name string
		test func(*testing.T)
	}{
		{"TheStoreIsAtTheReportedVersion", testTheStoreIsAtTheReportedVersion},
		{"ABookmarkWithNothingBeforeItPassesAtOnce", testABookmarkWithNothingBeforeItPassesAtOnce},
		{"ABookmarkWaitsForTheProcessFunction", testABookmarkWaitsForTheProcessFunction},
		{"AStoreWithoutBookmarks", testAStoreWithoutBookmarks},
		{"AListAndAResyncAreOneStep", testAListAndAResyncAreOneStep},
		{"InitialPopulationWithAListThatWaits", testInitialPopulationWithAListThatWaits},
		{"InitialPopulationWithASyncThatWaits", testInitialPopulationWithASyncThatWaits},
		{"ObjectsAreCollected", testObjectsAreCollected},
	} {
		t.Run(behaviour.name, func(t *testing.T) { synctest.Test(t, behaviour.test) })
	}
}

func TestNewNeedsAKeyFunc(t *testing.T) {
	assert.Panics(t, func() { inorder.New(deltafifo.Config[*object]{}) })
}

// When the store reaches a resource version, it holds exactly the state of that version.
func testTheStoreIsAtTheReportedVersion(t *testing.T) {
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
	assert.Empty(t, store.reached, "want no version before anything was processed")
	drain(t, queue, store)
	assert.Equal(t, []string{"3: a@2 b@3", "5: a@4 b@3", "8: a@4 b@7 c@6", "9: c@6", "10:", "11:"}, store.reached,
		"want the store to hold the state of each version that it is set to")
}

func testABookmarkWithNothingBeforeItPassesAtOnce(t *testing.T) {
	queue, store := newQueue(obj("a", 1))
	queue.Bookmark("2")
	assert.Equal(t, []string{"2: a@1"}, store.reached)
	assert.Zero(t, queue.Len())
	assert.False(t, queue.HasSynced(), "a bookmark does not count")
	queue.Close()
	queue.Bookmark("3")
	assert.Equal(t, []string{"2: a@1"}, store.reached, "nothing is queued after Close")
}

func testABookmarkWaitsForTheProcessFunction(t *testing.T) {
	queue, store := newQueue()
	require.NoError(t, queue.Add(obj("a", 1)))
	_, err := queue.Pop(func(key string, d deltas, initial bool) error {
		queue.Bookmark("2")
		assert.Empty(t, store.reached, "want no version while a is with process: the store does not show a yet")
		return store.Process(key, d, initial)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"2: a@1"}, store.reached)
}

func testAStoreWithoutBookmarks(t *testing.T) {
	queue := inorder.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc,
		KnownObjects: deltafifotest.NewConsumer()})
	queue.Bookmark("2")
	assert.Zero(t, queue.Len())
}

// The deltas of a list are adjacent, and deltas queued while it is processed follow them.
func testAListAndAResyncAreOneStep(t *testing.T) {
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
	}, queue.Snapshot().Waiting, "the list has not reached the front")
	assert.Equal(t, []string{
		"Updated x@2",
		"Deleted x@2 (inferred)", "Deleted y@1 (inferred)", "Replaced b@3", "Replaced a@3",
		"Sync a@3", "Sync b@3",
		"Updated b@4",
	}, drain(t, queue, store))
}

func testInitialPopulationWithAListThatWaits(t *testing.T) {
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
	assert.False(t, queue.HasSynced(), "the list that came meanwhile has not been processed")
	assert.Equal(t, []string{"Deleted known@1 (inferred)", "Replaced a@2"}, drain(t, queue, store))
	assert.True(t, queue.HasSynced())
}

// Deltas that wait when the first list arrives belong to the initial population.
func testInitialPopulationWithASyncThatWaits(t *testing.T) {
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

func testObjectsAreCollected(t *testing.T) {
	queue, _ := newQueue()
	pointer := func() weak.Pointer[object] {
		a := obj("a", 1)
		require.NoError(t, queue.Add(a))
		return weak.Make(a)
	}()
	require.NoError(t, queue.Add(obj("b", 1))) // the queue is not empty at the end
	_, err := queue.Pop(func(string, deltas, bool) error { return nil })
	require.NoError(t, err)
	runtime.GC()
	assert.Nil(t, pointer.Value(), "handed-out objects can be collected")
	assert.Equal(t, 1, queue.Len()) // keeps queue alive until here
}
