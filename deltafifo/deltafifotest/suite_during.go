package deltafifotest

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

// duringTests are about calls while a key is in flight: it no longer waits, and the store does not
// show its deltas yet. A form that blocks these calls handles them afterwards, with the same
// result.
var duringTests = []behaviour{
	{"AnUpdateIsHandedOutNext", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		assert.Equal(t, "a: Added a@1", r.popWhile(impl, func() { r.update("a", 2) }))
		r.expect("a: Updated a@2")
	}},
	{"ADeletionOfWhatIsBeingAddedIsHandedOut", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.popWhile(impl, func() { r.delete("a", 2) })
		r.expect("a: Deleted a@2")
		assert.Empty(t, r.consumer.Objects())
	}},
	{"ADeletionOfWhatIsBeingDeletedIsIgnored", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 2)
		r.popWhile(impl, func() { r.delete("a", 2) })
		r.expect()
	}},
	{"DeletedAndAddedAgainWhileBeingDeleted", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 2)
		r.popWhile(impl, func() {
			r.delete("a", 2)
			r.add("a", 3)
		})
		r.expect("a: Added a@3")
		assert.Equal(t, []string{"delete a@2", "add a@3"}, r.consumer.Journal())
	}},
	{"AListWithoutWhatIsBeingAddedDeletesIt", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.add("b", 1)
		r.popWhile(impl, func() { r.replace(Obj("b", 1)) })
		r.expect("b: Added b@1, Replaced b@1", "a: Deleted a@1 (inferred)")
		assert.Equal(t, []string{"b@1"}, r.consumer.Objects())
	}},
	{"AListWithoutWhatIsBeingDeletedAddsNoTombstone", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 2)
		r.popWhile(impl, func() { r.replace(Obj("b", 1)) })
		r.expect("b: Replaced b@1")
		assert.Equal(t, []string{"delete a@2", "add b@1"}, r.consumer.Journal())
	}},
	{"AListWithWhatIsBeingAddedRepeatsIt", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.popWhile(impl, func() { r.replace(Obj("a", 2)) })
		r.expect("a: Replaced a@2")
	}},
	{"AListWithWhatIsBeingDeletedBringsItBack", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 1)
		r.popWhile(impl, func() { r.replace(Obj("a", 2)) })
		r.expect("a: Replaced a@2")
		assert.Equal(t, []string{"a@2"}, r.consumer.Objects())
	}},
	{"AListAndLaterDeltas", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.popWhile(impl, func() {
			r.replace()
			r.add("a", 3)
		})
		r.expect("a: Deleted a@1 (inferred), Added a@3")
	}},
	{"AListWithoutAStoreDeletesWhatIsBeingAdded", func(t *testing.T, impl Implementation) {
		r := newBlindRig(t, impl)
		r.add("a", 1)
		r.popWhile(impl, func() { r.replace() })
		if impl.has(FreeProducers) && impl.has(KnowsWhatWaits) {
			r.expect("a: Deleted a@1 (inferred)")
		} else {
			r.expect() // the call waited, and then knew no key
		}
	}},
	{"AListWithoutAStoreDoesNotDeleteTwice", func(t *testing.T, impl Implementation) {
		r := newBlindRig(t, impl)
		r.add("a", 1)
		r.delete("a", 2)
		r.popWhile(impl, func() { r.replace() })
		if impl.has(Accumulation) {
			r.expect()
		} else {
			r.expect("a: Deleted a@2")
		}
	}},
	{"AResyncDoesNotBringTheOldStateBack", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1), Obj("b", 1))
		r.update("a", 2)
		r.popWhile(impl, r.resync)
		if impl.has(FreeProducers) && impl.has(Accumulation) {
			r.expect("b: Sync b@1") // a has just been processed
		} else {
			r.expectAnyOrder("a: Sync a@2", "b: Sync b@1")
		}
		assert.Equal(t, []string{"a@2", "b@1"}, r.consumer.Objects())
	}},
	{"AResyncDoesNotBringTheDeletedBack", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 2)
		r.popWhile(impl, r.resync)
		r.expect()
		assert.Empty(t, r.consumer.Objects())
	}},
	{"AFailedAdditionNeedsNoTombstone", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.failWhile(impl, errProcess, func() { r.replace() })
		r.expect()
	}},
	{"AFailedDeletionIsInferredAgain", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 2)
		r.failWhile(impl, errProcess, func() { r.replace() })
		r.expect("a: Deleted a@1 (inferred)") // with the state that the store still has
		assert.Empty(t, r.consumer.Objects())
	}},
	{"RequeuedDeltasGoBeforeNewerOnes", func(t *testing.T, impl Implementation) {
		if !impl.has(Requeue) {
			r := newRig(t, impl, Obj("a", 1))
			r.delete("a", 2)
			r.failWhile(impl, &deltafifo.ErrRequeue{}, func() { r.add("a", 3) })
			r.expect("a: Added a@3")
			assert.Equal(t, []string{"update a@1 a@3"}, r.consumer.Journal(), "the deletion was lost")
			return
		}
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 2)
		r.failWhile(impl, &deltafifo.ErrRequeue{}, func() { r.add("a", 3) })
		r.expect("a: Deleted a@2, Added a@3")
		assert.Equal(t, []string{"delete a@2", "add a@3"}, r.consumer.Journal())
	}},
	{"AListDuringProcessingDeletesARequeuedKey", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.failWhile(impl, &deltafifo.ErrRequeue{}, func() { r.replace() })
		if impl.has(Requeue) {
			r.expect("a: Added a@1, Deleted a@1 (inferred)")
		} else {
			r.expect()
		}
		assert.Empty(t, r.consumer.Objects())
	}},
	{"ADeletionPutBackCollapsesWithTheNextOne", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.delete("a", 2)
		r.failWhile(impl, &deltafifo.ErrRequeue{}, func() { r.replace() })
		if impl.has(Requeue) {
			r.expect("a: Deleted a@2")
		} else {
			r.expect("a: Deleted a@1 (inferred)")
		}
		assert.Empty(t, r.consumer.Objects())
	}},
	{"AListBetweenTwoPops", func(t *testing.T, impl Implementation) {
		// Not during, but right after: the store shows a, and no delta of a waits.
		r := newRig(t, impl)
		r.add("a", 1)
		r.pop()
		r.replace()
		r.expect("a: Deleted a@1 (inferred)")
	}},
}

// popWhile is pop, with calls from another goroutine during the process function. They have
// returned when popWhile returns; without FreeProducers they block until the consumer is done.
func (r *rig) popWhile(impl Implementation, calls func()) string {
	r.t.Helper()
	done := make(chan struct{})
	text := r.popDuring(func() { r.meanwhile(impl, calls, done) })
	<-done
	return text
}

// failWhile is popWhile with a consumer that returns err and leaves the store unchanged.
func (r *rig) failWhile(impl Implementation, err error, calls func()) {
	r.t.Helper()
	done := make(chan struct{})
	_, got := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
		r.meanwhile(impl, calls, done)
		return err
	})
	<-done
	if requeue, ok := err.(*deltafifo.ErrRequeue); ok && impl.has(Requeue) {
		require.Equal(r.t, requeue.Err, got)
	} else {
		require.ErrorIs(r.t, got, err)
	}
}

func (r *rig) meanwhile(impl Implementation, calls func(), done chan struct{}) {
	go func() {
		defer close(done)
		calls()
	}()
	if impl.has(FreeProducers) {
		select {
		case <-done:
		case <-time.After(longest):
			r.t.Error("want calls that do not wait for the process function, got a call that waits for it")
		}
	}
}

// assertBlocked asserts that an Add waits for the running process function.
func assertBlocked(t *testing.T, impl Implementation) {
	t.Helper()
	r := newRig(t, impl)
	r.add("slow", 1)
	done := make(chan struct{})
	r.popDuring(func() {
		go func() {
			defer close(done)
			r.add("a", 1)
		}()
		for range 1000 {
			runtime.Gosched()
		}
		select {
		case <-done:
			assert.Fail(t, "want Add to wait, because the lock is held while process runs, got an Add that returned")
		default:
		}
	})
	<-done
	r.expect("a: Added a@1")
}
