package deltafifotest

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var errProcess = errors.New("the consumer failed")

var popTests = []behaviour{
	{"ReturnsTheDeltasAndTheError", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.update("a", 2)
		var got deltafifo.Deltas[*Object]
		deltas, err := r.take(func(_ string, d deltafifo.Deltas[*Object], _ bool) error {
			got = d
			return errProcess
		})
		assert.ErrorIs(t, err, errProcess)
		assert.Equal(t, got, deltas)
		if impl.has(Accumulation) {
			assert.Equal(t, "Added a@1, Updated a@2", DescribeAll(deltas))
			r.expect() // only an ErrRequeue puts deltas back
		} else {
			assert.Equal(t, "Added a@1", DescribeAll(deltas))
			r.expect("a: Updated a@2")
		}
	}},
	{"BlocksUntilADeltaIsQueued", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		popped := r.popInBackground(1)
		synctest.Wait()
		assert.Empty(t, popped(), "want Pop to block while nothing waits, got a Pop that returned")
		r.add("a", 1)
		synctest.Wait()
		assert.Equal(t, []string{"a: Added a@1"}, popped(), "want Add to wake a blocked Pop, got a Pop that goes on blocking")
	}},
	{"EachKeyGoesToOneOfSeveralPops", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		popped := r.popInBackground(3)
		synctest.Wait()
		r.replace(Obj("a", 1), Obj("b", 1))
		synctest.Wait()
		assert.ElementsMatch(t, []string{"a: Replaced a@1", "b: Replaced b@1"}, popped(), "want each key to go to one Pop")
		r.add("c", 1)
		synctest.Wait()
		assert.Len(t, popped(), 3, "want the last Pop to get the next key")
	}},
	{"OneProcessFunctionRunsAtATime", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		const keys, consumers = 300, 3
		items := make([]*Object, keys)
		for i := range items {
			items[i] = Obj(string(rune('a'+i%26))+string(rune('0'+i/26)), i)
		}
		r.replace(items...)
		r.queue.Close()
		var running, overlaps, popped atomic.Int32
		letOthersRun := func() { time.Sleep(time.Millisecond) }
		if !impl.has(FreeProducers) {
			letOthersRun = runtime.Gosched // time stands still while a Pop waits for a mutex
		}
		done := make(chan struct{})
		for range consumers {
			go func() {
				defer func() { done <- struct{}{} }()
				for {
					_, err := r.queue.Pop(func(string, deltafifo.Deltas[*Object], bool) error {
						if running.Add(1) > 1 {
							overlaps.Add(1)
						}
						popped.Add(1)
						letOthersRun()
						running.Add(-1)
						return nil
					})
					if err != nil {
						return
					}
				}
			}()
		}
		for range consumers {
			<-done
		}
		assert.EqualValues(t, keys, popped.Load(), "want each key to be handed out once")
		assert.Zero(t, overlaps.Load(), "want one process function at a time, got some that overlap")
	}},
	{"CloseWakesEveryPop", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		var closed atomic.Int32
		for range 3 {
			go func() {
				if _, err := r.queue.Pop(r.consumer.Process); errors.Is(err, deltafifo.ErrFIFOClosed) {
					closed.Add(1)
				}
			}()
		}
		synctest.Wait()
		r.queue.Close()
		synctest.Wait()
		assert.EqualValues(t, 3, closed.Load())
	}},
	{"AClosedQueueHandsOutTheRest", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.add("b", 1)
		r.queue.Close()
		r.queue.Close()
		r.expect("a: Added a@1", "b: Added b@1")
		_, err := r.take(r.consumer.Process)
		assert.ErrorIs(t, err, deltafifo.ErrFIFOClosed, "the queue stays closed")
	}},
	{"NothingIsQueuedAfterClose", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("a", 1))
		r.queue.Close()
		if !impl.has(RefusesAfterClose) {
			require.NoError(t, r.queue.Add(Obj("b", 1)))
			assert.Equal(t, "b: Added b@1", r.pop())
			return
		}
		assert.ErrorIs(t, r.queue.Add(Obj("b", 1)), deltafifo.ErrFIFOClosed)
		assert.ErrorIs(t, r.queue.Update(Obj("a", 2)), deltafifo.ErrFIFOClosed)
		assert.ErrorIs(t, r.queue.Delete(Obj("a", 2)), deltafifo.ErrFIFOClosed)
		assert.ErrorIs(t, r.queue.Replace([]*Object{Obj("b", 1)}, "1"), deltafifo.ErrFIFOClosed)
		assert.ErrorIs(t, r.queue.Resync(), deltafifo.ErrFIFOClosed)
		r.expect()
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
	}},
	{"APanicCostsOneItem", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1), Obj("b", 1))
		assert.PanicsWithValue(t, "boom", func() {
			_, _ = r.take(func(string, deltafifo.Deltas[*Object], bool) error { panic("boom") })
		})
		assert.Equal(t, "b: Replaced b@1", r.pop())
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
		r.add("c", 1)
		r.expect("c: Added c@1")
	}},
	{"RequeueGoesToTheEnd", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.add("b", 1)
		_, err := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
			return &deltafifo.ErrRequeue{Err: errProcess}
		})
		assert.ErrorIs(t, err, errProcess)
		if !impl.has(Requeue) {
			r.expect("b: Added b@1")
			return
		}
		r.update("a", 2)
		r.expect("b: Added b@1", "a: Added a@1, Updated a@2")
	}},
	{"DeltasRequeuedTwiceStayInOrder", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.add("b", 1)
		r.add("c", 1)
		for range 2 {
			_, err := r.popFailing(&deltafifo.ErrRequeue{})
			assert.Equal(t, impl.has(Requeue), err == nil)
		}
		if impl.has(Requeue) {
			r.expect("c: Added c@1", "a: Added a@1", "b: Added b@1")
		} else {
			r.expect("c: Added c@1")
		}
	}},
	{"ReturnedDeltasDoNotChange", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		r.update("a", 2)
		r.replace()
		returned, err := r.popFailing(&deltafifo.ErrRequeue{})
		assert.Equal(t, impl.has(Requeue), err == nil)
		before := DescribeAll(returned)
		r.delete("a", 3) // takes the place of a tombstone that was put back
		r.add("a", 4)
		assert.Equal(t, before, DescribeAll(returned), "later calls change the deltas that Pop returned")
		r.queue.Close()
	}},
	{"RequeueWithoutAnErrIsNoError", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		_, err := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
			return &deltafifo.ErrRequeue{}
		})
		if !impl.has(Requeue) {
			assert.Error(t, err)
			r.expect()
			return
		}
		assert.NoError(t, err)
		r.expect("a: Added a@1")
	}},
	{"AWrappedErrRequeueRequeues", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		_, err := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
			return errors.Join(errors.New("context"), &deltafifo.ErrRequeue{Err: errProcess})
		})
		assert.ErrorIs(t, err, errProcess)
		if !impl.has(Requeue) {
			r.expect()
			return
		}
		r.expect("a: Added a@1")
	}},
	{"NothingIsRequeuedAfterClose", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.replace(Obj("a", 1))
		r.queue.Close()
		deltas, err := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
			return &deltafifo.ErrRequeue{Err: errProcess}
		})
		_, ok := errors.AsType[*deltafifo.ErrRequeue](err)
		assert.True(t, ok, "the error tells the caller that it owns the deltas")
		assert.ErrorIs(t, err, errProcess)
		assert.Equal(t, "Replaced a@1", DescribeAll(deltas))
		r.expect()
		assert.Equal(t, !impl.has(RequeueStaysInitial), r.queue.HasSynced(), "a was never processed")
	}},
	{"ASlowConsumerDelaysOnlyItself", func(t *testing.T, impl Implementation) {
		if !impl.has(FreeProducers) {
			assertBlocked(t, impl)
			return
		}
		r := newRig(t, impl)
		r.add("slow", 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.popDuring(func() { time.Sleep(time.Hour) })
		}()
		synctest.Wait()
		began := time.Now()
		r.add("a", 1)
		r.update("slow", 2)
		r.delete("slow", 3)
		r.resync()
		r.replace(Obj("a", 1), Obj("b", 1))
		assert.Zero(t, time.Since(began))
		<-done
		if impl.has(Accumulation) {
			r.expect("a: Added a@1, Replaced a@1", "slow: Updated slow@2, Deleted slow@3", "b: Replaced b@1")
		} else {
			r.expect("a: Added a@1, Sync a@1, Replaced a@1", "slow: Updated slow@2, Deleted slow@3", "b: Replaced b@1")
		}
	}},
}
