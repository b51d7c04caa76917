package deltafifotest

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var resyncTests = []behaviour{
	{"QueuesEachKnownObject", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1), Obj("b", 2))
		r.resync()
		r.expectAnyOrder("a: Sync a@1", "b: Sync b@2")
		assert.Equal(t, []string{"a@1", "b@2"}, r.consumer.Objects())
	}},
	{"SkipsWaitingKeys", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1), Obj("b", 1), Obj("c", 1))
		r.update("a", 2)
		r.delete("b", 2)
		r.resync()
		if impl.has(Accumulation) {
			r.expect("a: Updated a@2", "b: Deleted b@2", "c: Sync c@1")
		} else {
			r.expect("a: Updated a@2, Sync a@2", "b: Deleted b@2", "c: Sync c@1") // the store's state once the resync is at the front
		}
		assert.Equal(t, []string{"a@2", "c@1"}, r.consumer.Objects(), "what the consumer holds in the end")
	}},
	{"SkipsListedKeys", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1), Obj("gone", 1))
		r.replace(Obj("a", 2), Obj("new", 2))
		r.resync()
		if impl.has(Accumulation) {
			r.expect("a: Replaced a@2", "new: Replaced new@2", "gone: Deleted gone@1 (inferred)")
		} else {
			r.expect("a: Replaced a@2, Sync a@2", "new: Replaced new@2, Sync new@2", "gone: Deleted gone@1 (inferred)")
		}
		assert.Equal(t, []string{"a@2", "new@2"}, r.consumer.Objects(), "a Sync with the old state followed the list")
	}},
	{"ADeletionAfterASyncIsQueued", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1), Obj("b", 1))
		r.resync()
		r.delete("a", 2)
		r.replace(Obj("a", 3))
		r.expectAnyOrder("a: Sync a@1, Deleted a@2, Replaced a@3", "b: Sync b@1, Deleted b@1 (inferred)")
	}},
	{"TwiceQueuesOneSync", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.resync()
		r.resync()
		if impl.has(Accumulation) {
			r.expect("a: Sync a@1")
		} else {
			r.expect("a: Sync a@1, Sync a@1")
		}
	}},
	{"LaterDeltasJoinASync", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.resync()
		r.update("a", 2)
		r.expect("a: Sync a@1, Updated a@2")
	}},
	{"WithoutAStoreResyncDoesNothing", func(t *testing.T, impl Implementation) {
		r := newBlindRig(t, impl)
		r.add("a", 1)
		r.pop()
		r.resync()
		r.expect()
	}},
	{"SkipsAKeyThatTheStoreCannotFind", func(t *testing.T, impl Implementation) {
		queue := impl.New(deltafifo.Config[*Object]{KeyFunc: KeyFunc, KnownObjects: forgetful{}})
		require.NoError(t, queue.Resync())
		queue.Close()
		r := newRigOf(t, impl, NewConsumer(), queue)
		_, err := r.take(r.consumer.Process)
		assert.ErrorIs(t, err, deltafifo.ErrFIFOClosed)
	}},
	{"WakesAPop", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		popped := r.popInBackground(1)
		synctest.Wait()
		r.resync()
		synctest.Wait()
		assert.Equal(t, []string{"a: Sync a@1"}, popped(), "want Resync to wake a blocked Pop")
	}},
	{"IsNoPopulation", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.resync()
		r.pop()
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
	}},
}
