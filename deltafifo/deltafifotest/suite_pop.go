package deltafifotest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var errProcess = errors.New("the consumer failed")

var popTests = append([]behaviour{
	{"ReturnsTheDeltasAndTheError", with("", func(r *rig) {
		r.play("add a@1; update a@2")
		var got deltafifo.Deltas[*Object]
		deltas, err := r.take(func(_ string, d deltafifo.Deltas[*Object], _ bool) error {
			got = d
			return errProcess
		})
		assert.ErrorIs(r, err, errProcess)
		assert.Equal(r, got, deltas)
		if r.has(Accumulation) {
			assert.Equal(r, "Added a@1, Updated a@2", DescribeAll(deltas))
			r.expect() // only an ErrRequeue puts deltas back
		} else {
			assert.Equal(r, "Added a@1", DescribeAll(deltas))
			r.expect("a: Updated a@2")
		}
	})},
	{"BlocksUntilADeltaIsQueued", with("", func(r *rig) {
		popped := r.popInBackground(1)
		synctest.Wait()
		assert.Empty(r, popped(), "want Pop to block while nothing waits, got a Pop that returned")
		r.add("a", 1)
		synctest.Wait()
		assert.Equal(r, []string{"a: Added a@1"}, popped(),
			"want Add to wake a blocked Pop, got a Pop that goes on blocking")
	})},
	{"EachKeyGoesToOneOfSeveralPops", with("", func(r *rig) {
		popped := r.popInBackground(3)
		synctest.Wait()
		r.replace(Obj("a", 1), Obj("b", 1))
		synctest.Wait()
		assert.ElementsMatch(r, []string{"a: Replaced a@1", "b: Replaced b@1"}, popped(),
			"want each key to go to one Pop")
		r.add("c", 1)
		synctest.Wait()
		assert.Len(r, popped(), 3, "want the last Pop to get the next key")
	})},
	{"OneProcessFunctionRunsAtATime", with("", func(r *rig) {
		const keys, consumers = 300, 3
		items := make([]*Object, keys)
		for i := range items {
			items[i] = Obj(fmt.Sprint("key-", i), i)
		}
		r.replace(items...)
		r.queue.Close()
		var running, overlaps, popped atomic.Int32
		process := func(string, deltafifo.Deltas[*Object], bool) error {
			if running.Add(1) > 1 {
				overlaps.Add(1)
			}
			popped.Add(1)
			if r.has(FreeProducers) {
				time.Sleep(time.Millisecond) // time stands still while a Pop waits for a mutex
			} else {
				runtime.Gosched()
			}
			running.Add(-1)
			return nil
		}
		var group sync.WaitGroup
		for range consumers {
			group.Go(func() {
				var err error
				for err == nil {
					_, err = r.queue.Pop(process)
				}
			})
		}
		group.Wait()
		assert.EqualValues(r, keys, popped.Load(), "want each key to be handed out once")
		assert.Zero(r, overlaps.Load(), "want one process function at a time, got some that overlap")
	})},
	{"CloseWakesEveryPop", with("", func(r *rig) {
		ended := r.endInBackground(3)
		synctest.Wait()
		r.queue.Close()
		synctest.Wait()
		assert.Equal(r, 3, ended(), "want Close to wake every blocked Pop")
	})},
	{"CallsAfterClose", with("a@1", func(r *rig) {
		r.queue.Close()
		if !r.has(RefusesAfterClose) {
			require.NoError(r, r.queue.Add(Obj("b", 1)))
			assert.Equal(r, "b: Added b@1", r.pop())
			return
		}
		assert.ErrorIs(r, r.queue.Add(Obj("b", 1)), deltafifo.ErrFIFOClosed)
		assert.ErrorIs(r, r.queue.Update(Obj("a", 2)), deltafifo.ErrFIFOClosed)
		assert.ErrorIs(r, r.queue.Delete(Obj("a", 2)), deltafifo.ErrFIFOClosed)
		assert.ErrorIs(r, r.queue.Replace([]*Object{Obj("b", 1)}, "1"), deltafifo.ErrFIFOClosed)
		assert.ErrorIs(r, r.queue.Resync(), deltafifo.ErrFIFOClosed)
		r.expect()
		assert.False(r, r.queue.HasSynced(), "want HasSynced false after a list that was refused, got true")
	})},
	// kubernetes/kubernetes#129024: a handler that panicked on an initial object, in a process that
	// survives panics, left its registration unsynced forever.
	{"Issue129024APanicCostsOneItem", with("", func(r *rig) {
		r.replace(Obj("a", 1), Obj("b", 1))
		assert.PanicsWithValue(r, "boom", func() {
			_, _ = r.take(func(string, deltafifo.Deltas[*Object], bool) error { panic("boom") })
		})
		assert.Equal(r, "b: Replaced b@1", r.pop())
		assert.True(r, r.queue.HasSynced(), "want HasSynced true, got false")
		r.add("c", 1)
		r.expect("c: Added c@1")
	})},
	{"ReturnedDeltasDoNotChange", with("", func(r *rig) {
		r.play("add a@1; update a@2; list")
		returned, err := r.popFailing(&deltafifo.ErrRequeue{})
		assert.Equal(r, r.has(Requeue), err == nil)
		before := DescribeAll(returned)
		r.delete("a", 3) // takes the place of a tombstone that was put back
		r.add("a", 4)
		assert.Equal(r, before, DescribeAll(returned), "later calls change the deltas that Pop returned")
	})},
	{"NothingIsRequeuedAfterClose", with("", func(r *rig) {
		r.replace(Obj("a", 1))
		r.queue.Close()
		deltas, err := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
			return &deltafifo.ErrRequeue{Err: errProcess}
		})
		_, ok := errors.AsType[*deltafifo.ErrRequeue](err)
		assert.True(r, ok,
			"want Pop of a closed queue to return the *ErrRequeue, so that its caller owns the deltas; got %v", err)
		assert.ErrorIs(r, err, errProcess)
		assert.Equal(r, "Replaced a@1", DescribeAll(deltas))
		r.expect()
		assert.Equal(r, !r.has(RequeueStaysInitial), r.queue.HasSynced(), "a was never processed")
	})},
	// kubernetes/kubernetes#103789: the queue was locked while the consumer worked on an item, so
	// the watch stalled, and a server closes the connection of such a watcher.
	{"ASlowConsumerDelaysOnlyItself", with("", func(r *rig) {
		if !r.has(FreeProducers) {
			r.assertBlocked()
			return
		}
		r.add("slow", 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.popDuring(func() { time.Sleep(time.Hour) })
		}()
		synctest.Wait()
		began := time.Now()
		r.play("add a@1; update slow@2; delete slow@3; resync; list a@1 b@1")
		assert.Zero(r, time.Since(began))
		<-done
		if r.has(Accumulation) {
			r.expect("a: Added a@1, Replaced a@1", "slow: Updated slow@2, Deleted slow@3", "b: Replaced b@1")
		} else {
			r.expect("a: Added a@1, Sync a@1, Replaced a@1", "slow: Updated slow@2, Deleted slow@3", "b: Replaced b@1")
		}
	})},
}, behaviours([]script{
	{name: "RequeueWithoutAnErrIsNoError",
		calls: "add a@1", ends: &deltafifo.ErrRequeue{},
		want: "a: Added a@1", without: Requeue, instead: "nothing"},
	{name: "RequeueGoesToTheEnd",
		calls: "add a@1; add b@1; requeue; update a@2",
		want:  "b: Added b@1; a: Added a@1, Updated a@2", without: Requeue, instead: "b: Added b@1; a: Updated a@2"},
	{name: "DeltasRequeuedTwiceStayInOrder",
		calls: "add a@1; add b@1; add c@1; requeue; requeue",
		want:  "c: Added c@1; a: Added a@1; b: Added b@1", without: Requeue, instead: "c: Added c@1"},
	{name: "AClosedQueueHandsOutTheRest",
		calls: "add a@1; add b@1; close; close",
		want:  "a: Added a@1; b: Added b@1",
		then:  "closed"},
	{name: "AWrappedErrRequeueRequeues",
		calls: "add a@1", ends: errors.Join(errors.New("context"), &deltafifo.ErrRequeue{Err: errProcess}),
		want: "a: Added a@1", without: Requeue, instead: "nothing"},
})...)

// blockedTests are about blocked Pops: however a process function ends, the next Pop continues.
var blockedTests = []behaviour{
	{"EachCallWakesAPop", func(t *testing.T, impl Implementation) {
		for name, call := range map[string]func(*rig){
			"Add":                           func(r *rig) { r.add("a", 1) },
			"Update":                        func(r *rig) { r.update("a", 1) },
			"Delete":                        func(r *rig) { r.delete("known", 2) },
			"Replace with an item":          func(r *rig) { r.replace(Obj("known", 2)) },
			"Replace with only a tombstone": func(r *rig) { r.replace() },
			"Resync":                        func(r *rig) { r.resync() },
		} {
			r := newRig(t, impl, "known@1")
			popped := r.popInBackground(1)
			synctest.Wait()
			call(r)
			synctest.Wait()
			assert.Len(t, popped(), 1, "%s did not wake a blocked Pop", name)
		}
	}},
	{"BlockedPopsGetWhatIsQueued", func(t *testing.T, impl Implementation) {
		for _, c := range []struct {
			calls, during string
			ending        string
			want          []string
		}{
			{"add a@1; add b@1", "", "succeeded", []string{"b: Added b@1"}},
			{"add a@1; add b@1", "", "failed", []string{"b: Added b@1"}},
			{"add a@1; add b@1", "", "panicked", []string{"b: Added b@1"}},
			{"add a@1", "", "requeued", []string{"a: Added a@1"}},
			{"add a@1", "update a@2; add b@1", "succeeded", []string{"a: Updated a@2", "b: Added b@1"}},
		} {
			if c.ending == "requeued" && !impl.has(Requeue) {
				continue
			}
			r := newRig(t, impl, "")
			r.play(c.calls)
			var popped func() []string
			done := make(chan struct{})
			survive(c.ending, func() {
				_, _ = r.take(func(string, deltafifo.Deltas[*Object], bool) error {
					popped = r.popInBackground(2)
					r.meanwhile(func() { r.play(c.during) }, done)
					return endings[c.ending]()
				})
			})
			<-done
			synctest.Wait()
			assert.ElementsMatch(t, c.want, popped(),
				"after a process function that %s, blocked Pops do not get what is queued", c.ending)
		}
	}},
	{"CloseDuringProcessingWakesEveryPopAfterwards", func(t *testing.T, impl Implementation) {
		for name, end := range endings {
			r := newRig(t, impl, "")
			r.add("a", 1)
			done := make(chan struct{})
			var ended func() int
			survive(name, func() {
				_, _ = r.take(func(string, deltafifo.Deltas[*Object], bool) error {
					ended = r.endInBackground(3)
					r.meanwhile(r.queue.Close, done)
					if impl.has(FreeProducers) {
						synctest.Wait()
						assert.Zero(t, ended(), "Pop returned ErrFIFOClosed while a process function was running")
					}
					return end()
				})
			})
			<-done
			synctest.Wait()
			assert.Equal(t, 3, ended(),
				"after Close and a process function that %s, blocked Pops do not end", name)
		}
	}},
}

// assertBlocked asserts that an Add waits for the running process function.
func (r *rig) assertBlocked() {
	r.add("slow", 1)
	var returned atomic.Bool
	done := make(chan struct{})
	r.popDuring(func() {
		go func() {
			defer close(done)
			r.add("a", 1)
			returned.Store(true)
		}()
		for range 1000 {
			runtime.Gosched()
		}
		assert.False(r, returned.Load(), "want Add to wait, because the lock is held while process runs")
	})
	<-done
	r.expect("a: Added a@1")
}

// survive calls a function, and recovers if it is about a process function that panicked.
func survive(ending string, call func()) {
	defer func() {
		if ending == "panicked" {
			_ = recover()
		}
	}()
	call()
}

// endings are the ways in which a process function may end.
var endings = map[string]func() error{
	"succeeded": func() error { return nil },
	"failed":    func() error { return errProcess },
	"panicked":  func() error { panic("boom") },
	"requeued":  func() error { return &deltafifo.ErrRequeue{} },
}

// popInBackground starts this many Pops and lets them block. It returns a function that returns
// their results so far.
func (r *rig) popInBackground(pops int) func() []string {
	var mu sync.Mutex
	texts := []string{}
	for range pops {
		go func() {
			_, _ = r.queue.Pop(func(key string, d deltafifo.Deltas[*Object], _ bool) error {
				mu.Lock()
				defer mu.Unlock()
				texts = append(texts, key+": "+DescribeAll(d))
				return nil
			})
		}()
	}
	r.waitIfFree()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(texts)
	}
}

// endInBackground is popInBackground for Pops that continue until the queue is closed and empty.
// The function returns how many have ended with ErrFIFOClosed.
func (r *rig) endInBackground(pops int) func() int {
	var ends atomic.Int32
	for range pops {
		go func() {
			var err error
			for !errors.Is(err, deltafifo.ErrFIFOClosed) {
				_, err = r.queue.Pop(func(string, deltafifo.Deltas[*Object], bool) error { return nil })
			}
			ends.Add(1)
		}()
	}
	r.waitIfFree()
	return func() int { return int(ends.Load()) }
}

// waitIfFree waits until every goroutine of the bubble is blocked. A goroutine that waits for a
// mutex never counts as blocked, so without FreeProducers it does not wait.
func (r *rig) waitIfFree() {
	if r.has(FreeProducers) {
		synctest.Wait()
	}
}
