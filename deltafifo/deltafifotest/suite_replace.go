package deltafifotest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var replaceTests = []behaviour{
	{"ItemsAreHandedOutInListOrder", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("b", 1), Obj("a", 1), Obj("c", 1))
		inOrder := []string{"b: Replaced b@1", "a: Replaced a@1", "c: Replaced c@1"}
		r.expectArrival(inOrder, inOrder)
	}},
	{"AKeyListedTwiceHasTwoDeltas", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1), Obj("a", 2))
		r.expect("a: Replaced a@1, Replaced a@2", "b: Replaced b@1")
		assert.True(t, r.queue.HasSynced(), "HasSynced is true once all keys of the first list were processed")
	}},
	{"WaitingKeysKeepTheirPlace", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.add("b", 1)
		r.replace(Obj("c", 5), Obj("b", 5), Obj("a", 5))
		r.expectArrival(
			[]string{"a: Added a@1, Replaced a@5", "b: Added b@1, Replaced b@5", "c: Replaced c@5"},
			[]string{"a: Added a@1", "b: Added b@1", "c: Replaced c@5", "b: Replaced b@5", "a: Replaced a@5"})
	}},
	{"KnownButNotListedGetsATombstone", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("stays", 1), Obj("gone", 7))
		r.replace(Obj("stays", 2), Obj("new", 1))
		r.expectArrival(
			[]string{"stays: Replaced stays@2", "new: Replaced new@1", "gone: Deleted gone@7 (inferred)"},
			[]string{"gone: Deleted gone@7 (inferred)", "stays: Replaced stays@2", "new: Replaced new@1"})
		assert.Equal(t, []string{"new@1", "stays@2"}, r.consumer.Objects(), "what the consumer holds in the end")
	}},
	{"AnEmptyListDeletesEveryObject", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1), Obj("b", 2))
		r.replace()
		r.expectAnyOrder("a: Deleted a@1 (inferred)", "b: Deleted b@2 (inferred)")
		assert.Empty(t, r.consumer.Objects())
	}},
	{"WaitingButNotListedGetsATombstoneInItsPlace", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("gone", 1)
		r.update("gone", 2)
		r.add("stays", 1)
		r.replace(Obj("stays", 2))
		r.expect("gone: Added gone@1, Updated gone@2, Deleted gone@2 (inferred)", "stays: Added stays@1, Replaced stays@2")
	}},
	{"WithoutAStoreWhatWaitsGetsATombstone", func(t *testing.T, impl Implementation) {
		r := newBlindRig(t, impl)
		r.add("a", 1)
		r.replace(Obj("b", 1))
		if impl.has(KnowsWhatWaits) {
			r.expect("a: Added a@1, Deleted a@1 (inferred)", "b: Replaced b@1")
		} else {
			r.expect("a: Added a@1", "b: Replaced b@1")
		}
	}},
	{"WhatWaitsIsNewerThanTheStore", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.update("a", 5)
		r.replace()
		r.expect("a: Updated a@5, Deleted a@5 (inferred)")
	}},
	{"ATombstoneIsNeverInsideATombstone", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.replace()
		r.replace()
		deltas, err := r.take(r.consumer.Process)
		require.NoError(t, err)
		assert.Equal(t, deltafifo.Deltas[*Object]{{
			Type:      deltafifo.Deleted,
			Object:    Obj("a", 1),
			Tombstone: &deltafifo.DeletedFinalStateUnknown[*Object]{Key: "a", Obj: Obj("a", 1)},
		}}, deltas)
	}},
	{"EachTombstoneHasTheObjectOfItsKey", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1), Obj("b", 2), Obj("c", 3))
		r.update("b", 4) // newer than the store
		r.replace()
		r.expectAnyOrder("a: Deleted a@1 (inferred)", "b: Updated b@4, Deleted b@4 (inferred)", "c: Deleted c@3 (inferred)")
	}},
	{"ATombstoneHasTheStateOfAWaitingList", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.replace(Obj("a", 2))
		r.replace(Obj("a", 3))
		r.replace()
		r.expect("a: Replaced a@2, Replaced a@3, Deleted a@3 (inferred)")
	}},
	{"AKeyMayBeListedAgainAfterItsTombstone", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1))
		r.replace()
		r.replace(Obj("a", 2))
		r.expect("a: Replaced a@1, Deleted a@1 (inferred), Replaced a@2")
		assert.Equal(t, []string{"add a@1", "delete a@1", "add a@2"}, r.consumer.Journal())
	}},
	{"AWatchedDeletionHasNoTombstone", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 2)
		deltas, err := r.take(r.consumer.Process)
		require.NoError(t, err)
		assert.Equal(t, deltafifo.Deltas[*Object]{{Type: deltafifo.Deleted, Object: Obj("a", 2)}}, deltas)
	}},
	{"BackOnTheListAfterATombstone", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.replace()
		r.replace(Obj("a", 2))
		r.expect("a: Deleted a@1 (inferred), Replaced a@2")
		assert.Equal(t, []string{"delete a@1", "add a@2"}, r.consumer.Journal())
	}},
	{"ATombstoneHasNoStateIfTheStoreCannotFindTheObject", func(t *testing.T, impl Implementation) {
		queue := impl.New(deltafifo.Config[*Object]{KeyFunc: KeyFunc, KnownObjects: forgetful{}})
		require.NoError(t, queue.Replace(nil, "1"))
		r := newRigOf(t, impl, NewConsumer(), queue)
		deltas, err := r.take(func(key string, _ deltafifo.Deltas[*Object], _ bool) error {
			assert.Equal(t, "ghost", key)
			return nil
		})
		require.NoError(t, err)
		require.Len(t, deltas, 1)
		assert.Nil(t, deltas[0].Object)
		assert.Equal(t, &deltafifo.DeletedFinalStateUnknown[*Object]{Key: "ghost"}, deltas[0].Tombstone)
	}},
	{"AdjacentDeletionsCollapse/WatchedThenInferred", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.delete("a", 2)
		r.replace()
		r.expect("a: Added a@1, Deleted a@2")
	}},
	{"AdjacentDeletionsCollapse/InferredThenWatched", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.replace()
		r.delete("a", 2)
		if impl.has(Accumulation) {
			r.expect("a: Added a@1, Deleted a@2")
		} else {
			r.expect("a: Added a@1, Deleted a@1 (inferred)") // the two deletions are never adjacent
		}
	}},
	{"AdjacentDeletionsCollapse/InferredTwice", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.replace()
		r.replace()
		r.expect("a: Added a@1, Deleted a@1 (inferred)")
	}},
	{"TheSameListAgainDeletesNothing", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		r.pop()
		r.replace(Obj("a", 1), Obj("b", 1))
		r.expect("b: Replaced b@1, Replaced b@1", "a: Replaced a@1")
	}},
}

// forgetful is a store that lists a key and then cannot find its object.
type forgetful struct{}

func (forgetful) ListKeys() []string              { return []string{"ghost"} }
func (forgetful) GetByKey(string) (*Object, bool) { return nil, false }
