package deltafifotest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var syncedTests = []behaviour{
	{"NotBeforeTheFirstCall", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
		assertOpen(t, r.queue.Synced())
	}},
	{"AtOnceIfAnAddComesFirst", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
		assertClosed(t, r.queue.Synced())
	}},
	{"AtOnceIfAnUpdateComesFirst", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.update("a", 1)
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"AtOnceIfADeleteComesFirst", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.delete("a", 1) // ignored, but it counts as the first call
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"AtOnceIfTheFirstListIsEmpty", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace()
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"WhenTheWholeFirstListIsProcessed", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
		r.pop()
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
		assertOpen(t, r.queue.Synced())
		r.pop()
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
		assertClosed(t, r.queue.Synced())
	}},
	{"TombstonesOfTheFirstListCount", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("gone", 1))
		r.replace(Obj("a", 1))
		r.pop()
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
		r.pop()
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"ASecondListDoesNotCount", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1))
		r.replace(Obj("a", 2), Obj("b", 1))
		if impl.has(Accumulation) {
			assert.Equal(t, "a: Replaced a@1, Replaced a@2", r.pop())
		} else {
			assert.Equal(t, "a: Replaced a@1", r.pop())
		}
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"DeltasAfterTheFirstListDoNotCount", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1))
		r.add("b", 1)
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
		r.pop()
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"StaysTrue", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace()
		r.replace(Obj("a", 1))
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"KeysListedTwiceCountOnce", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("a", 2), Obj("b", 1))
		turns := 2
		if !impl.has(Accumulation) {
			turns = 3
		}
		for range turns {
			assert.False(t, r.queue.HasSynced(), "HasSynced before everything on the first list was processed")
			r.pop()
		}
		assert.True(t, r.queue.HasSynced(), "HasSynced counts an object listed twice as two keys")
	}},
	{"AnInitialItemThatFailsCountsAsProcessed", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		_, err := r.popFailing(errProcess)
		assert.ErrorIs(t, err, errProcess)
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
		r.pop()
		assert.True(t, r.queue.HasSynced(), "a failed initial item keeps the queue unsynced forever")
	}},
	{"AnInitialItemThatTheNextListLacksStillCounts", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		r.replace(Obj("b", 2), Obj("c", 2))
		r.pop()
		assert.False(t, r.queue.HasSynced(), "b of the first list has not been processed")
		r.pop()
		assert.True(t, r.queue.HasSynced(), "the second list does not count")
	}},
	{"AnAddBeforeTheFirstListMeansNoInitialList", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.replace(Obj("a", 1), Obj("b", 1))
		assert.True(t, r.queue.HasSynced(), "HasSynced must not turn false again")
		_, err := r.take(func(_ string, _ deltafifo.Deltas[*Object], isInInitialList bool) error {
			assert.False(t, isInInitialList, "the list was not the first call")
			return nil
		})
		assert.NoError(t, err)
	}},
	{"DeltasOfTheFirstListAreMarked", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		r.add("c", 1)
		initial := map[string]bool{}
		for range 3 {
			_, err := r.take(func(key string, _ deltafifo.Deltas[*Object], isInInitialList bool) error {
				initial[key] = isInInitialList
				return nil
			})
			require.NoError(t, err)
		}
		assert.Equal(t, map[string]bool{"a": true, "b": true, "c": false}, initial, "which keys are marked as initial")
	}},
	{"NotWhileTheLastInitialItemIsProcessed", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1))
		_, err := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
			// Uses the channel: an implementation may hold its lock here.
			if impl.has(SyncedAfterProcessing) {
				assertOpen(t, r.queue.Synced())
			} else {
				assertClosed(t, r.queue.Synced())
			}
			return nil
		})
		require.NoError(t, err)
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"NotAfterAFailedAdd", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		require.Error(t, r.queue.Add(Obj("", 1)))
		assert.Equal(t, !impl.has(FailedAddIsNoPopulation), r.queue.HasSynced())
	}},
	{"NotWhileAnInitialItemIsPutBack", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		fails := func(string, deltafifo.Deltas[*Object], bool) error { return &deltafifo.ErrRequeue{} }
		_, err := r.take(fails)
		if !impl.has(Requeue) {
			assert.Error(t, err, "an error like any other")
			assert.Equal(t, "b: Replaced b@1", r.pop())
			assert.True(t, r.queue.HasSynced(), "true although a was never processed")
			return
		}
		require.NoError(t, err)
		assert.Equal(t, "b: Replaced b@1", r.pop())
		assert.Equal(t, !impl.has(RequeueStaysInitial), r.queue.HasSynced(), "HasSynced while an initial item waits again")
		assert.Equal(t, "a: Replaced a@1", r.pop())
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"NotWhileAnInitialItemIsPutBackBeforeNewerDeltas", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		if !impl.has(Requeue) {
			return
		}
		r.replace(Obj("a", 1))
		r.failWhile(impl, &deltafifo.ErrRequeue{}, func() { r.update("a", 2) })
		assert.Equal(t, !impl.has(RequeueStaysInitial), r.queue.HasSynced(),
			"HasSynced while an initial item waits again, before a newer delta")
		assert.Equal(t, "a: Replaced a@1, Updated a@2", r.pop())
		assert.True(t, r.queue.HasSynced(), "HasSynced is false after the initial item was processed")
	}},
	{"ACancelledTombstoneOfTheFirstListCountsAsProcessed", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.resync()
		done := make(chan struct{})
		_, err := r.take(func(key string, _ deltafifo.Deltas[*Object], _ bool) error {
			r.meanwhile(impl, func() { r.replace() }, done)
			return r.consumer.Process(key, deltafifo.Deltas[*Object]{{Type: deltafifo.Deleted, Object: Obj("a", 1)}}, false)
		})
		require.NoError(t, err)
		<-done
		assert.True(t, r.queue.HasSynced(), "HasSynced waits for a tombstone of the first list that was dropped")
		r.expect()
	}},
}

func assertOpen(t *testing.T, synced <-chan struct{}) {
	t.Helper()
	select {
	case <-synced:
		assert.Fail(t, "Synced is closed too early")
	default:
	}
}

func assertClosed(t *testing.T, synced <-chan struct{}) {
	t.Helper()
	select {
	case <-synced:
	default:
		assert.Fail(t, "Synced is not closed")
	}
}
