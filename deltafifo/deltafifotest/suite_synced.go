package deltafifotest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var syncedTests = append(behaviours([]script{
	{name: "NotBeforeTheFirstCall", known: "a@1", calls: "unsynced"},
	{name: "AtOnceIfAnAddComesFirst", calls: "add a@1; synced; pop"},
	{name: "AtOnceIfAnUpdateComesFirst", calls: "update a@1; synced; pop"},
	{name: "AtOnceIfADeleteComesFirst", calls: "delete a@1; synced"}, // ignored, but it counts as the first call
	{name: "AtOnceIfTheFirstListIsEmpty", calls: "list; synced"},
	{name: "WhenTheWholeFirstListIsProcessed", calls: "list a@1 b@1; unsynced; pop; unsynced; pop; synced"},
	// kubernetes/kubernetes#31755: HasSynced turned true before the deletions that the first list
	// implied, and when the last item was popped, before the store had it.
	{name: "TombstonesOfTheFirstListCount", known: "gone@1", calls: "list a@1; pop; unsynced; pop; synced"},
	{name: "ASecondListDoesNotCount", calls: "list a@1; list a@2 b@1; pop; synced",
		want:    "b: Replaced b@1",
		without: Accumulation, instead: "a: Replaced a@2; b: Replaced b@1"},
	{name: "DeltasAfterTheFirstListDoNotCount", calls: "list a@1; add b@1; unsynced; pop; synced",
		want: "b: Added b@1"},
	{name: "AnInitialItemThatFailsCountsAsProcessed", calls: "list a@1 b@1; fail; unsynced; pop; synced"},
	{name: "AnAddBeforeTheFirstListMeansNoInitialList", calls: "add a@1; list a@1; synced; pop later",
		without: Accumulation, instead: "a: Replaced a@1"}, // HasSynced must not turn false again
	{name: "DeltasOfTheFirstListAreMarked", calls: "list a@1 b@1; add c@1; pop initial; pop initial; pop later"},
	{name: "StaysTrue", calls: "list; list a@1; synced; pop"},
	{name: "AnInitialItemThatTheNextListLacksStillCounts", // the second list does not count
		calls:   "list a@1 b@1; list b@2 c@2; pop; unsynced; pop; synced",
		want:    "c: Replaced c@2",
		without: Accumulation, instead: "a: Deleted a@1 (inferred); b: Replaced b@2; c: Replaced c@2"},
}),
	behaviour{"KeysListedTwiceCountOnce", with("", func(r *rig) {
		r.play("list a@1 a@2 b@1")
		turns := 2
		if !r.has(Accumulation) {
			turns = 3
		}
		for range turns {
			assert.False(r, r.queue.HasSynced(), "HasSynced before everything on the first list was processed")
			r.pop()
		}
		assert.True(r, r.queue.HasSynced(), "HasSynced counts an object listed twice as two keys")
	})},
	behaviour{"NotWhileTheLastInitialItemIsProcessed", with("", func(r *rig) {
		r.replace(Obj("a", 1))
		r.popDuring(func() {
			// Uses the channel: an implementation may hold its lock here.
			if r.has(SyncedAfterProcessing) {
				assertOpen(r, r.queue.Synced())
			} else {
				assertClosed(r, r.queue.Synced())
			}
		})
		r.play("synced")
	})},
	behaviour{"NotAfterAFailedAdd", with("", func(r *rig) {
		require.Error(r, r.queue.Add(Obj("", 1)))
		assert.Equal(r, !r.has(FailedAddIsNoPopulation), r.queue.HasSynced())
	})},
	behaviour{"NotWhileAnInitialItemIsPutBack", with("", func(r *rig) {
		r.play("list a@1 b@1")
		_, err := r.popFailing(&deltafifo.ErrRequeue{})
		assert.Equal(r, "b: Replaced b@1", r.pop())
		if !r.has(Requeue) {
			assert.Error(r, err, "an error like any other")
			assert.True(r, r.queue.HasSynced(), "true although a was never processed")
			return
		}
		require.NoError(r, err)
		assert.Equal(r, !r.has(RequeueStaysInitial), r.queue.HasSynced(), "HasSynced while an initial item waits again")
		assert.Equal(r, "a: Replaced a@1", r.pop())
		r.play("synced")
	})},
	behaviour{"NotWhileAnInitialItemIsPutBackBeforeNewerDeltas", with("", func(r *rig) {
		if !r.has(Requeue) {
			return
		}
		r.replace(Obj("a", 1))
		r.failWhile(&deltafifo.ErrRequeue{}, func() { r.update("a", 2) })
		assert.Equal(r, !r.has(RequeueStaysInitial), r.queue.HasSynced(),
			"HasSynced while an initial item waits again, before a newer delta")
		assert.Equal(r, "a: Replaced a@1, Updated a@2", r.pop())
		r.play("synced")
	})},
	behaviour{"ACancelledTombstoneOfTheFirstListCountsAsProcessed", with("a@1", func(r *rig) {
		r.resync()
		done := make(chan struct{})
		_, err := r.take(func(key string, _ deltafifo.Deltas[*Object], _ bool) error {
			r.meanwhile(func() { r.replace() }, done)
			return r.consumer.Process(key, deltafifo.Deltas[*Object]{{Type: deltafifo.Deleted,
				Object: Obj("a", 1)}}, false)
		})
		require.NoError(r, err)
		<-done
		assert.True(r, r.queue.HasSynced(), "HasSynced waits for a tombstone of the first list that was dropped")
		r.expect()
	})},
)

func assertOpen(t testing.TB, synced <-chan struct{}) {
	t.Helper()
	select {
	case <-synced:
		assert.Fail(t, "Synced is closed too early")
	default:
	}
}

func assertClosed(t testing.TB, synced <-chan struct{}) {
	t.Helper()
	select {
	case <-synced:
	default:
		assert.Fail(t, "Synced is not closed")
	}
}

// duringTests are about calls while a key is in flight: it no longer waits, and the store does not
// show its deltas yet. A form that blocks these calls handles them afterwards, with the same
// result.
var duringTests = append([]behaviour{
	{"AListWithoutAStoreDeletesWhatIsBeingAdded", with("", func(r *rig) {
		r.add("a", 1)
		r.popWhile(func() { r.replace() })
		if r.has(FreeProducers) && r.has(KnowsWhatWaits) {
			r.expect("a: Deleted a@1 (inferred)")
		} else {
			r.expect() // the call waited, and then knew no key
		}
	}, blind)},
	{"AResyncDoesNotBringTheOldStateBack", with("a@1 b@1", func(r *rig) {
		r.update("a", 2)
		r.popWhile(r.resync)
		if r.has(FreeProducers) && r.has(Accumulation) {
			r.expect("b: Sync b@1") // a has just been processed
		} else {
			r.expectAnyOrder("a: Sync a@2", "b: Sync b@1")
		}
		assert.Equal(r, []string{"a@2", "b@1"}, r.consumer.Objects())
	})},
}, behaviours([]script{
	{name: "AnUpdateIsHandedOutNext",
		calls: "add a@1", during: "update a@2",
		want: "a: Updated a@2", journal: "add a@1; update a@1 a@2"},
	// The queue of the articles drops an item that is requeued behind newer deltas of its key.
	// Without the deletion, a handler sees an update between two objects of the same name.
	{name: "RequeuedDeltasGoBeforeNewerOnes", known: "a@1",
		calls: "delete a@2", during: "add a@3", ends: &deltafifo.ErrRequeue{},
		want: "a: Deleted a@2, Added a@3", journal: "delete a@2; add a@3", without: Requeue, instead: "a: Added a@3"},
	// kubernetes/client-go#360: from the Pop of an addition until the store shows the object, it is
	// neither waiting nor known.
	{name: "ADeletionOfWhatIsBeingAddedIsHandedOut",
		calls: "add a@1", during: "delete a@2",
		want: "a: Deleted a@2", holds: "nothing"},
	{name: "ADeletionOfWhatIsBeingDeletedIsIgnored", known: "a@1",
		calls: "delete a@2", during: "delete a@2",
		want: "nothing"},
	{name: "DeletedAndAddedAgainWhileBeingDeleted", known: "a@1",
		calls: "delete a@2", during: "delete a@2; add a@3",
		want: "a: Added a@3", journal: "delete a@2; add a@3"},
	{name: "AListWithoutWhatIsBeingAddedDeletesIt",
		calls: "add a@1; add b@1", during: "list b@1",
		want: "b: Added b@1, Replaced b@1; a: Deleted a@1 (inferred)", holds: "b@1"},
	{name: "AListWithoutWhatIsBeingDeletedAddsNoTombstone", known: "a@1",
		calls: "delete a@2", during: "list b@1",
		want: "b: Replaced b@1", journal: "delete a@2; add b@1"},
	{name: "AListWithWhatIsBeingAddedRepeatsIt",
		calls: "add a@1", during: "list a@2",
		want: "a: Replaced a@2"},
	{name: "AListWithWhatIsBeingDeletedBringsItBack", known: "a@1",
		calls: "delete a@1", during: "list a@2",
		want: "a: Replaced a@2", holds: "a@2"},
	{name: "AListAndLaterDeltas",
		calls: "add a@1", during: "list; add a@3",
		want: "a: Deleted a@1 (inferred), Added a@3"},
	{name: "AListWithoutAStoreDoesNotDeleteTwice", config: blind,
		calls: "add a@1; delete a@2", during: "list",
		want: "nothing", without: Accumulation, instead: "a: Deleted a@2"},
	{name: "AResyncDoesNotBringTheDeletedBack", known: "a@1",
		calls: "delete a@2", during: "resync",
		want: "nothing", holds: "nothing"},
	{name: "AFailedAdditionNeedsNoTombstone",
		calls: "add a@1", during: "list", ends: errProcess,
		want: "nothing"},
	{name: "AFailedDeletionIsInferredAgain", known: "a@1",
		calls: "delete a@2", during: "list", ends: errProcess,
		want: "a: Deleted a@1 (inferred)", holds: "nothing"}, // with the state that the store still has
	{name: "AListDuringProcessingDeletesARequeuedKey",
		calls: "add a@1", during: "list", ends: &deltafifo.ErrRequeue{},
		want: "a: Added a@1, Deleted a@1 (inferred)", without: Requeue, instead: "nothing", holds: "nothing"},
	{name: "ADeletionPutBackCollapsesWithTheNextOne", known: "a@1",
		calls: "delete a@2", during: "list", ends: &deltafifo.ErrRequeue{},
		want: "a: Deleted a@2", without: Requeue, instead: "a: Deleted a@1 (inferred)", holds: "nothing"},
	{name: "AListBetweenTwoPops", // not during, but right after: the store shows a, and no delta of a waits
		calls: "add a@1; pop; list",
		want:  "a: Deleted a@1 (inferred)"},
})...)

// popWhile is pop, with calls from another goroutine during the process function. They have
// returned when popWhile returns; without FreeProducers they block until the consumer is done.
func (r *rig) popWhile(calls func()) string {
	r.Helper()
	done := make(chan struct{})
	text := r.popDuring(func() { r.meanwhile(calls, done) })
	<-done
	return text
}

// failWhile is popWhile with a consumer that returns err and leaves the store unchanged.
func (r *rig) failWhile(err error, calls func()) {
	r.Helper()
	done := make(chan struct{})
	_, got := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
		r.meanwhile(calls, done)
		return err
	})
	<-done
	if requeue, ok := errors.AsType[*deltafifo.ErrRequeue](err); ok && r.has(Requeue) {
		assert.Equal(r, requeue.Err, got)
	} else {
		assert.ErrorIs(r, got, err)
	}
}

func (r *rig) meanwhile(calls func(), done chan struct{}) {
	go func() {
		defer close(done)
		calls()
	}()
	if r.has(FreeProducers) {
		select {
		case <-done:
		case <-time.After(longest):
			r.Error("want calls that do not wait for the process function, got a call that waits for it")
		}
	}
}
