package deltafifotest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

var orderTests = []behaviour{
	{"KeysComeOutInOrderOfTheirFirstDelta", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.add("b", 1)
		r.update("a", 2)
		r.add("c", 1)
		r.update("b", 2)
		r.expectArrival(
			[]string{"a: Added a@1, Updated a@2", "b: Added b@1, Updated b@2", "c: Added c@1"},
			[]string{"a: Added a@1", "b: Added b@1", "a: Updated a@2", "c: Added c@1", "b: Updated b@2"})
	}},
	{"EveryStepIsKept", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.update("a", 2)
		r.update("a", 2)
		r.delete("a", 3)
		r.add("a", 4)
		r.add("a", 5)
		r.expect("a: Added a@1, Updated a@2, Updated a@2, Deleted a@3, Added a@4, Added a@5")
	}},
	{"NoDeltaJumpsTheQueue", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		if !impl.has(Accumulation) {
			r.add("foo", 10)
			r.add("bar", 1)
			r.add("foo", 11)
			assert.Equal(t, "foo: Added foo@10", r.pop())
			r.add("foo", 14)
			r.expectArrival(nil, []string{"bar: Added bar@1", "foo: Added foo@11", "foo: Added foo@14"})
			return
		}
		r.add("foo", 10)
		r.add("bar", 1)
		r.add("foo", 11)
		r.add("foo", 13)
		r.add("zab", 30)
		assert.Equal(t, "foo: Added foo@10, Added foo@11, Added foo@13", r.pop())
		r.add("foo", 14) // was handed out, so it goes to the end
		assert.Equal(t, "bar: Added bar@1", r.pop())
		r.expect("zab: Added zab@30", "foo: Added foo@14")
	}},
	{"AdjacentDeletionsCollapse", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.delete("a", 2)
		r.delete("a", 3)
		r.expect("a: Added a@1, Deleted a@2")
	}},
	{"DeletionsThatAreNotAdjacentStay", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.delete("a", 2)
		r.add("a", 3)
		r.delete("a", 4)
		r.expect("a: Added a@1, Deleted a@2, Added a@3, Deleted a@4")
	}},
	{"ADeletionOfAnUnknownObjectIsIgnored", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("known", 1))
		r.delete("unknown", 1)
		r.delete("known", 2)
		r.expect("known: Deleted known@2")
	}},
	{"ASecondDeletionIsIgnored", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 2)
		assert.Equal(t, "a: Deleted a@2", r.pop())
		r.delete("a", 2)
		r.expect()
	}},
	{"ADeletionOfAWaitingKeyIsQueued", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.delete("a", 2)
		r.expect("a: Added a@1, Deleted a@2")
	}},
	{"WithoutAStoreOnlyWaitingKeysCanBeDeleted", func(t *testing.T, impl Implementation) {
		r := newBlindRig(t, impl)
		r.delete("a", 1)
		if !impl.has(KnowsWhatWaits) {
			r.expect("a: Deleted a@1")
			return
		}
		r.add("b", 1)
		r.delete("b", 2)
		assert.Equal(t, "b: Added b@1, Deleted b@2", r.pop())
		r.delete("b", 3)
		r.expect()
	}},
}
