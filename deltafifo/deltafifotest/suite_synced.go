package deltafifotest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var syncedTests = []behaviour{
	{"NotBeforeAnythingCameIn", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		assert.False(t, r.queue.HasSynced())
		assertOpen(t, r.queue.Synced())
	}},
	{"AtOnceIfAnAddComesFirst", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		assert.True(t, r.queue.HasSynced())
		assertClosed(t, r.queue.Synced())
	}},
	{"AtOnceIfAnUpdateComesFirst", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.update("a", 1)
		assert.True(t, r.queue.HasSynced())
	}},
	{"AtOnceIfADeleteComesFirst", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.delete("a", 1) // no news, and still something that came in
		assert.True(t, r.queue.HasSynced())
	}},
	{"AtOnceIfTheFirstListIsEmpty", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace()
		assert.True(t, r.queue.HasSynced())
	}},
	{"WhenTheWholeFirstListIsOut", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		assert.False(t, r.queue.HasSynced())
		r.pop()
		assert.False(t, r.queue.HasSynced())
		assertOpen(t, r.queue.Synced())
		r.pop()
		assert.True(t, r.queue.HasSynced())
		assertClosed(t, r.queue.Synced())
	}},
	{"TombstonesOfTheFirstListCount", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("gone", 1))
		r.replace(Obj("a", 1))
		r.pop()
		assert.False(t, r.queue.HasSynced())
		r.pop()
		assert.True(t, r.queue.HasSynced())
	}},
	{"ASecondListDoesNotCount", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1))
		r.replace(Obj("a", 2), Obj("b", 1))
		if impl.has(t, Accumulation) {
			assert.Equal(t, "a: Replaced a@1, Replaced a@2", r.pop())
		} else {
			assert.Equal(t, "a: Replaced a@1", r.pop())
		}
		assert.True(t, r.queue.HasSynced())
	}},
	{"WhatComesAfterTheFirstListDoesNotCount", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1))
		r.add("b", 1)
		assert.False(t, r.queue.HasSynced())
		r.pop()
		assert.True(t, r.queue.HasSynced())
	}},
	{"StaysTrue", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace()
		r.replace(Obj("a", 1))
		assert.True(t, r.queue.HasSynced())
	}},
	{"WithDuplicatesOnTheFirstListAfterEachOfItsKeys", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("a", 2), Obj("b", 1))
		turns := 2
		if !impl.has(t, Accumulation) {
			turns = 3
		}
		for range turns {
			assert.False(t, r.queue.HasSynced(), "HasSynced before everything on the first list was processed")
			r.pop()
		}
		assert.True(t, r.queue.HasSynced(), "HasSynced counts an object that is listed twice as two keys")
	}},
	{"AnInitialItemThatFailsHasBeenProcessed", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		_, err := r.popFailing(errProcess)
		assert.ErrorIs(t, err, errProcess)
		assert.False(t, r.queue.HasSynced())
		r.pop()
		assert.True(t, r.queue.HasSynced(), "an initial item that failed keeps the queue unsynced for ever")
	}},
	{"WhatTheNextListLacksIsStillInitial", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		r.replace(Obj("b", 2), Obj("c", 2))
		r.pop()
		assert.False(t, r.queue.HasSynced(), "b of the first list has not been processed")
		r.pop()
		assert.True(t, r.queue.HasSynced(), "what the second list brought is not waited for")
	}},
	{"AnAddBeforeTheFirstListMeansNoInitialList", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.replace(Obj("a", 1), Obj("b", 1))
		assert.True(t, r.queue.HasSynced(), "HasSynced must not turn false again")
		_, err := r.take(func(_ string, _ deltafifo.Deltas[*Object], isInInitialList bool) error {
			assert.False(t, isInInitialList, "the list was not the first thing that came in")
			return nil
		})
		assert.NoError(t, err)
	}},
	{"ADeltaOfTheFirstListSaysSo", func(t *testing.T, impl Implementation) {
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
		assert.Equal(t, map[string]bool{"a": true, "b": true, "c": false}, initial)
	}},
	{"NotWhileTheLastInitialItemIsProcessed", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1))
		_, err := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
			// Through the channel: an implementation may hold its lock here.
			if impl.has(t, SyncedAfterProcessing) {
				assertOpen(t, r.queue.Synced())
			} else {
				assertClosed(t, r.queue.Synced())
			}
			return nil
		})
		require.NoError(t, err)
		assert.True(t, r.queue.HasSynced())
	}},
	{"NotAfterAnAddThatFailed", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		require.Error(t, r.queue.Add(Obj("", 1)))
		assert.Equal(t, !impl.has(t, FailedAddIsNoPopulation), r.queue.HasSynced())
	}},
	{"NotWhileAnInitialItemIsPutBack", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		fails := func(string, deltafifo.Deltas[*Object], bool) error { return &deltafifo.ErrRequeue{} }
		_, err := r.take(fails)
		if !impl.has(t, Requeue) {
			assert.Error(t, err, "an error like any other")
			assert.Equal(t, "b: Replaced b@1", r.pop())
			assert.True(t, r.queue.HasSynced(), "though a was never processed")
			return
		}
		require.NoError(t, err)
		assert.Equal(t, "b: Replaced b@1", r.pop())
		assert.Equal(t, !impl.has(t, RequeueStaysInitial), r.queue.HasSynced(), "HasSynced while an initial item waits again")
		assert.Equal(t, "a: Replaced a@1", r.pop())
		assert.True(t, r.queue.HasSynced())
	}},
	{"NotWhileAnInitialItemIsPutBackBeforeNewerDeltas", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		if !impl.has(t, Requeue) {
			return
		}
		r.replace(Obj("a", 1))
		r.failWhile(impl, &deltafifo.ErrRequeue{}, func() { r.update("a", 2) })
		assert.Equal(t, !impl.has(t, RequeueStaysInitial), r.queue.HasSynced(),
			"HasSynced while an initial item waits again, in front of a newer delta")
		assert.Equal(t, "a: Replaced a@1, Updated a@2", r.pop())
		assert.True(t, r.queue.HasSynced(), "the initial item was processed at last, and HasSynced is still false")
	}},
	{"ATombstoneOfTheFirstListThatIsNoNewsCountsAsProcessed", func(t *testing.T, impl Implementation) {
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
