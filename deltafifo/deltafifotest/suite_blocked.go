package deltafifotest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"orrery/deltafifo"
)

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
			r := newRig(t, impl, Obj("known", 1))
			popped := r.popInBackground(1)
			synctest.Wait()
			call(r)
			synctest.Wait()
			assert.Len(t, popped(), 1, "%s did not wake a blocked Pop", name)
			r.queue.Close()
		}
	}},
	{"ABlockedPopGetsTheSecondKey", func(t *testing.T, impl Implementation) {
		for name, end := range endings() {
			r := newRig(t, impl)
			r.add("a", 1)
			r.add("b", 1)
			var popped func() []string
			func() {
				defer func() { _ = recover() }()
				_, _ = r.take(func(string, deltafifo.Deltas[*Object], bool) error {
					popped = r.popInBackground(1)
					return end()
				})
			}()
			synctest.Wait()
			assert.Equal(t, []string{"b: Added b@1"}, popped(), "after a process function that %s, a blocked Pop does not get the next key", name)
			r.queue.Close()
		}
	}},
	{"ABlockedPopGetsRequeuedDeltas", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		if !impl.has(Requeue) {
			return
		}
		r.add("a", 1)
		var popped func() []string
		_, err := r.take(func(string, deltafifo.Deltas[*Object], bool) error {
			popped = r.popInBackground(1)
			return &deltafifo.ErrRequeue{}
		})
		assert.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, []string{"a: Added a@1"}, popped(), "a blocked Pop does not get requeued deltas")
		r.queue.Close()
	}},
	{"ABlockedPopGetsDeltasQueuedDuringProcessing", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		r.add("a", 1)
		var popped func() []string
		done := make(chan struct{})
		r.popDuring(func() {
			popped = r.popInBackground(2)
			r.meanwhile(impl, func() { r.update("a", 2); r.add("b", 1) }, done)
		})
		<-done
		synctest.Wait()
		assert.ElementsMatch(t, []string{"a: Updated a@2", "b: Added b@1"}, popped(), "blocked Pops do not get deltas queued during processing")
		r.queue.Close()
	}},
	{"CloseDuringProcessingWakesEveryPopAfterwards", func(t *testing.T, impl Implementation) {
		for name, end := range endings() {
			r := newRig(t, impl)
			r.add("a", 1)
			done := make(chan struct{})
			var ended func() []error
			func() {
				defer func() { _ = recover() }()
				_, _ = r.take(func(string, deltafifo.Deltas[*Object], bool) error {
					ended = r.endInBackground(3)
					r.meanwhile(impl, r.queue.Close, done)
					if impl.has(FreeProducers) {
						synctest.Wait()
						assert.Empty(t, ended(), "Pop returned ErrFIFOClosed while a process function was running")
					}
					return end()
				})
			}()
			<-done
			synctest.Wait()
			assert.Equal(t, []error{deltafifo.ErrFIFOClosed, deltafifo.ErrFIFOClosed, deltafifo.ErrFIFOClosed}, ended(),
				"after Close and a process function that %s, blocked Pops do not end", name)
		}
	}},
}

// endings returns the ways in which a process function may end.
func endings() map[string]func() error {
	return map[string]func() error{
		"succeeded": func() error { return nil },
		"failed":    func() error { return errProcess },
		"panicked":  func() error { panic("boom") },
	}
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
				texts = append(texts, fmt.Sprintf("%s: %s", key, DescribeAll(d)))
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
func (r *rig) endInBackground(pops int) func() []error {
	var mu sync.Mutex
	var ends []error
	for range pops {
		go func() {
			for {
				_, err := r.queue.Pop(func(string, deltafifo.Deltas[*Object], bool) error { return nil })
				if errors.Is(err, deltafifo.ErrFIFOClosed) {
					mu.Lock()
					defer mu.Unlock()
					ends = append(ends, err)
					return
				}
			}
		}()
	}
	r.waitIfFree()
	return func() []error {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(ends)
	}
}

// waitIfFree waits until every goroutine of the bubble is blocked. A goroutine that waits for a
// mutex never counts as blocked, so without FreeProducers it does not wait.
func (r *rig) waitIfFree() {
	if r.impl.has(FreeProducers) {
		synctest.Wait()
	}
}
