package fast_test

import (
	"errors"
	"runtime"
	"strconv"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/fast"
)

// Most incidents of client-go are scripts in testdata/scenarios. These cannot be expressed there.

// kubernetes/kubernetes#103789, and the 130 ms for which client-go holds its lock for a list of
// 100,000 objects: the store is read without the lock, so a watch continues meanwhile. (Under the
// lock, the Add inside would never return.)
func TestIssue103789TheWatchGoesOnWhileTheStoreIsRead(t *testing.T) {
	store := &readWhile{Consumer: deltafifotest.NewConsumer(obj("a", 1))}
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})
	store.happens = func() { assert.NoError(t, queue.Add(obj("b", 1))) }
	require.NoError(t, queue.Resync())
	store.happens = func() { assert.NoError(t, queue.Add(obj("c", 1))) }
	require.NoError(t, queue.Replace(nil, "1"))
	assert.Equal(t, []string{
		"b: Added b@1, Deleted b@1 (inferred)",
		"a: Sync a@1, Deleted a@1 (inferred)",
		"c: Added c@1, Deleted c@1 (inferred)",
	}, waiting(t, queue))
}

// kubernetes/kubernetes#129024: a handler that panicked on an initial object, in a process that
// survives panics, left its registration unsynced forever.
func TestIssue129024APanicDoesNotKeepTheQueueUnsynced(t *testing.T) {
	queue, store := newQueue()
	require.NoError(t, queue.Replace([]*object{obj("good", 1), obj("bad", 1)}, "1"))
	survive := func() {
		defer func() { _ = recover() }()
		_, _ = queue.Pop(func(key string, d deltas, initial bool) error {
			if key == "bad" {
				panic(key)
			}
			return store.Process(key, d, initial)
		})
	}
	survive()
	assert.False(t, queue.HasSynced())
	survive()
	assert.True(t, queue.HasSynced())
	assert.Equal(t, []string{"good@1"}, store.Objects())
}

// client-go's controller loop drops the error of a process function. Pop must return the error
// together with the deltas that it concerns.
func TestProcessErrorsReachTheCallerWithTheirDeltas(t *testing.T) {
	queue, _ := newQueue()
	require.NoError(t, queue.Add(obj("a", 1)))
	full := errors.New("the store is full")
	got, err := queue.Pop(func(string, deltas, bool) error { return full })
	assert.Same(t, full, err)
	assert.Equal(t, "Added a@1", deltafifotest.DescribeAll(got))
}

// kubernetes/kubernetes#113305 is about one object that keeps a whole list in memory. Neither the
// queue nor its waiting deltas may keep handed-out objects alive.
func TestIssue113305HandedOutObjectsCanBeCollected(t *testing.T) {
	queue, _ := newQueue()
	const n = 2000
	var freed [n]weak.Pointer[object]
	items := make([]*object, n)
	for i := range items {
		items[i] = obj(strconv.Itoa(i), i)
		freed[i] = weak.Make(items[i])
	}
	require.NoError(t, queue.Replace(items, "1"))
	clear(items)

	kept := make([]deltas, 0, n/100)
	for i := range n - 1 {
		d, err := queue.Pop(func(string, deltas, bool) error { return nil })
		require.NoError(t, err)
		if i%100 == 0 {
			kept = append(kept, d) // a consumer may keep some deltas
		}
	}
	runtime.GC()
	alive := 0
	for i := range freed {
		if freed[i].Value() != nil {
			alive++
		}
	}
	assert.Equal(t, len(kept)+1, alive, "the deltas that the consumer kept, and the waiting one")
	runtime.KeepAlive(kept)
	runtime.KeepAlive(queue)
}
