package deltafifotest

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var orderTests = behaviours([]script{
	{name: "KeysComeOutInOrderOfTheirFirstDelta",
		calls: "add a@1; add b@1; update a@2; add c@1; update b@2", arrival: true,
		want:    "a: Added a@1, Updated a@2; b: Added b@1, Updated b@2; c: Added c@1",
		without: Accumulation, instead: "a: Added a@1; b: Added b@1; a: Updated a@2; c: Added c@1; b: Updated b@2"},
	{name: "EveryStepIsKept",
		calls: "add a@1; update a@2; update a@2; delete a@3; add a@4; add a@5",
		want:  "a: Added a@1, Updated a@2, Updated a@2, Deleted a@3, Added a@4, Added a@5"},
	{name: "AdjacentDeletionsCollapse",
		calls: "add a@1; delete a@2; delete a@3",
		want:  "a: Added a@1, Deleted a@2"},
	{name: "DeletionsThatAreNotAdjacentStay",
		calls: "add a@1; delete a@2; add a@3; delete a@4",
		want:  "a: Added a@1, Deleted a@2, Added a@3, Deleted a@4"},
	{name: "ADeletionOfAnUnknownObjectIsIgnored", known: "known@1",
		calls: "delete unknown@1; delete known@2",
		want:  "known: Deleted known@2"},
	{name: "ASecondDeletionIsIgnored", known: "a@1",
		calls:   "delete a@2; pop; delete a@2",
		want:    "nothing",
		journal: "delete a@2"},
	{name: "NoDeltaJumpsTheQueue", // foo was handed out, so its next delta goes to the end
		calls: "add foo@10; add bar@1; add foo@11; add zab@30; pop; add foo@14", arrival: true,
		want:    "bar: Added bar@1; zab: Added zab@30; foo: Added foo@14",
		journal: "add foo@10; update foo@10 foo@11; add bar@1; add zab@30; update foo@11 foo@14",
		without: Accumulation, instead: "bar: Added bar@1; foo: Added foo@11; zab: Added zab@30; foo: Added foo@14"},
	{name: "WithoutAStoreOnlyWaitingKeysCanBeDeleted", config: blind,
		calls:   "delete a@1; add b@1; delete b@2; pop; delete b@3",
		want:    "nothing",
		journal: "add b@1; delete b@2",
		without: KnowsWhatWaits, instead: "b: Added b@1, Deleted b@2, Deleted b@3"},
	{name: "ADeletionOfAWaitingKeyIsQueued",
		calls: "add a@1; delete a@2",
		want:  "a: Added a@1, Deleted a@2"},
})

var replaceTests = append(behaviours([]script{
	{name: "ItemsAreHandedOutInListOrder",
		calls: "list b@1 a@1 c@1", arrival: true,
		want: "b: Replaced b@1; a: Replaced a@1; c: Replaced c@1"},
	{name: "WaitingKeysKeepTheirPlace",
		calls: "add a@1; add b@1; list c@5 b@5 a@5", arrival: true,
		want:    "a: Added a@1, Replaced a@5; b: Added b@1, Replaced b@5; c: Replaced c@5",
		without: Accumulation,
		instead: "a: Added a@1; b: Added b@1; c: Replaced c@5; b: Replaced b@5; a: Replaced a@5"},
	{name: "KnownButNotListedGetsATombstone", known: "stays@1 gone@7",
		calls: "list stays@2 new@1", arrival: true,
		want:    "stays: Replaced stays@2; new: Replaced new@1; gone: Deleted gone@7 (inferred)",
		without: Accumulation, instead: "gone: Deleted gone@7 (inferred); stays: Replaced stays@2; new: Replaced new@1",
		holds: "new@1 stays@2"},
	{name: "AWatchedDeletionHasNoTombstone", known: "a@1",
		calls: "delete a@2",
		want:  "a: Deleted a@2"},
	{name: "AKeyListedTwiceHasTwoDeltas",
		calls: "list a@1 b@1 a@2",
		want:  "a: Replaced a@1, Replaced a@2; b: Replaced b@1",
		then:  "synced"},
	{name: "AnEmptyListDeletesEveryObject", known: "a@1 b@2",
		calls: "list", anyOrder: true,
		want:  "a: Deleted a@1 (inferred); b: Deleted b@2 (inferred)",
		holds: "nothing"},
	// kubernetes/kubernetes#83810 and #115658: the list was compared with the store alone, which
	// had never held an object that was still queued; the object stayed in the caches forever.
	{name: "WaitingButNotListedGetsATombstoneInItsPlace",
		calls: "add gone@1; update gone@2; add stays@1; list stays@2",
		want:  "gone: Added gone@1, Updated gone@2, Deleted gone@2 (inferred); stays: Added stays@1, Replaced stays@2"},
	{name: "ATombstoneIsNeverInsideATombstone", known: "a@1", // see take
		calls: "list; list",
		want:  "a: Deleted a@1 (inferred)"},
	{name: "WithoutAStoreWhatWaitsGetsATombstone", config: blind,
		calls:   "add a@1; list b@1",
		want:    "a: Added a@1, Deleted a@1 (inferred); b: Replaced b@1",
		without: KnowsWhatWaits, instead: "a: Added a@1; b: Replaced b@1"},
	{name: "WhatWaitsIsNewerThanTheStore", known: "a@1",
		calls: "update a@5; list",
		want:  "a: Updated a@5, Deleted a@5 (inferred)"},
	{name: "EachTombstoneHasTheObjectOfItsKey", known: "a@1 b@2 c@3",
		calls: "update b@4; list", anyOrder: true, // b@4 is newer than the store
		want: "a: Deleted a@1 (inferred); b: Updated b@4, Deleted b@4 (inferred); c: Deleted c@3 (inferred)"},
	{name: "ATombstoneHasTheStateOfAWaitingList", known: "a@1",
		calls: "list a@2; list a@3; list",
		want:  "a: Replaced a@2, Replaced a@3, Deleted a@3 (inferred)"},
	{name: "AKeyMayBeListedAgainAfterItsTombstone",
		calls:   "list a@1; list; list a@2",
		want:    "a: Replaced a@1, Deleted a@1 (inferred), Replaced a@2",
		journal: "add a@1; delete a@1; add a@2"},
	{name: "BackOnTheListAfterATombstone", known: "a@1",
		calls:   "list; list a@2",
		want:    "a: Deleted a@1 (inferred), Replaced a@2",
		journal: "delete a@1; add a@2"},
	{name: "AdjacentDeletionsCollapse/WatchedThenInferred",
		calls: "add a@1; delete a@2; list",
		want:  "a: Added a@1, Deleted a@2"},
	{name: "AdjacentDeletionsCollapse/InferredThenWatched",
		calls:   "add a@1; list; delete a@2",
		want:    "a: Added a@1, Deleted a@2",
		without: Accumulation, instead: "a: Added a@1, Deleted a@1 (inferred)"}, // the two are never adjacent
	{name: "AdjacentDeletionsCollapse/InferredTwice",
		calls: "add a@1; list; list",
		want:  "a: Added a@1, Deleted a@1 (inferred)"},
	{name: "TheSameListAgainDeletesNothing",
		calls: "list a@1 b@1; pop; list a@1 b@1",
		want:  "b: Replaced b@1, Replaced b@1; a: Replaced a@1"},
}), []behaviour{
	{"ATombstoneHasNoStateIfTheStoreCannotFindTheObject", with("", func(r *rig) {
		r.replace()
		deltas, err := r.take(func(key string, _ deltafifo.Deltas[*Object], _ bool) error {
			assert.Equal(r, "ghost", key)
			return nil
		})
		require.NoError(r, err)
		require.Len(r, deltas, 1)
		assert.Nil(r, deltas[0].Object)
		assert.Equal(r, &deltafifo.DeletedFinalStateUnknown[*Object]{Key: "ghost"}, deltas[0].Tombstone)
	}, haunted)},
}...)

// haunted gives the queue a store that lists a key and then cannot find its object.
func haunted(_ *rig, cfg *deltafifo.Config[*Object]) { cfg.KnownObjects = forgetful{} }

type forgetful struct{}

func (forgetful) ListKeys() []string              { return []string{"ghost"} }
func (forgetful) GetByKey(string) (*Object, bool) { return nil, false }

var resyncTests = behaviours([]script{
	{name: "SkipsAKeyThatTheStoreCannotFind", config: haunted, calls: "resync"},
	{name: "QueuesEachKnownObject", known: "a@1 b@2",
		calls: "resync", anyOrder: true,
		want:  "a: Sync a@1; b: Sync b@2",
		holds: "a@1 b@2"},
	// kubernetes/kubernetes#26082: a Sync after newer deltas restored the old state, or even a
	// deleted object.
	{name: "SkipsWaitingKeys", known: "a@1 b@1 c@1",
		calls:   "update a@2; delete b@2; resync",
		want:    "a: Updated a@2; b: Deleted b@2; c: Sync c@1",
		without: Accumulation, // the store's state once the resync is at the front
		instead: "a: Updated a@2, Sync a@2; b: Deleted b@2; c: Sync c@1",
		holds:   "a@2 c@1"},
	{name: "SkipsListedKeys", known: "a@1 gone@1",
		calls:   "list a@2 new@2; resync",
		want:    "a: Replaced a@2; new: Replaced new@2; gone: Deleted gone@1 (inferred)",
		without: Accumulation,
		instead: "a: Replaced a@2, Sync a@2; new: Replaced new@2, Sync new@2; gone: Deleted gone@1 (inferred)",
		holds:   "a@2 new@2"},
	{name: "ADeletionAfterASyncIsQueued", known: "a@1 b@1",
		calls: "resync; delete a@2; list a@3", anyOrder: true,
		want: "a: Sync a@1, Deleted a@2, Replaced a@3; b: Sync b@1, Deleted b@1 (inferred)"},
	{name: "TwiceQueuesOneSync", known: "a@1",
		calls:   "resync; resync",
		want:    "a: Sync a@1",
		without: Accumulation, instead: "a: Sync a@1, Sync a@1"},
	{name: "LaterDeltasJoinASync", known: "a@1",
		calls: "resync; update a@2",
		want:  "a: Sync a@1, Updated a@2"},
	{name: "WithoutAStoreResyncDoesNothing", config: blind,
		calls: "add a@1; pop; resync",
		want:  "nothing"},
	{name: "IsNoPopulation", known: "a@1",
		calls: "resync; pop; unsynced",
		want:  "nothing"},
})
