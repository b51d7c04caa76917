// Package deltafifotest tests the behaviour of a DeltaFIFO.
//
// [Run] takes an [Implementation] and asserts, one behaviour per subtest: order, accumulation,
// deduplication, tombstones, resync, the initial population, blocked Pops, closing, hooks. It uses
// only the methods of [Queue]. Each subtest runs in a testing/synctest bubble, where time is
// virtual, so a call that blocks forever fails at once, unless it waits for a mutex: then time
// stands still, and the test ends with go test's timeout. These implementations pass it:
//
//   - deltafifo.DeltaFIFO, the textbook form;
//   - fast.DeltaFIFO, by Pop and by PopBatch;
//   - inorder.RealFIFO;
//   - client-go's cache.DeltaFIFO, through an adapter in the module upstream, which proves that the
//     contract is client-go's.
//
// Where forms deliberately differ, there is a [Capability]. An implementation that lacks it gives
// the reason, and the suite asserts the other behaviour or leaves the case out.
//
// [Consumer] is the other side of a queue: a store to which the deltas are applied, with a journal
// of the handler's events. [Object] is what the tests queue. [NewTrace] logs all hooks.
package deltafifotest

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

// Queue is a deltafifo.Interface without Len and Snapshot, see [Looking].
type Queue interface {
	Add(obj *Object) error
	Update(obj *Object) error
	Delete(obj *Object) error
	Replace(items []*Object, resourceVersion string) error
	Resync() error
	Pop(process func(key string, d deltafifo.Deltas[*Object],
		isInInitialList bool) error) (deltafifo.Deltas[*Object], error)
	HasSynced() bool
	Synced() <-chan struct{}
	Close()
}

// Implementation is what Run tests.
type Implementation struct {
	// New returns a new queue. It must use the Config's KeyFunc, KnownObjects and Transform.
	// Required.
	New func(deltafifo.Config[*Object]) Queue
	// Lacks names the capabilities that the implementation lacks, with the reasons. Default: none.
	Lacks map[Capability]string
}

// Capability names something that this project's DeltaFIFO does and another may not.
type Capability string

const (
	// Accumulation: the deltas of a key are handed out together, in the place of the first of them.
	// Without it, deltas are handed out one by one in order of arrival.
	Accumulation Capability = "Accumulation"
	// KnowsWhatWaits: without KnownObjects, a waiting key is known: a list without it implies its
	// deletion, and the deletion of any other key is ignored.
	KnowsWhatWaits Capability = "KnowsWhatWaits"
	// Requeue: an *ErrRequeue from process puts the deltas back.
	Requeue Capability = "Requeue"
	// RequeueStaysInitial: HasSynced waits for an initial item that was put back.
	RequeueStaysInitial Capability = "RequeueStaysInitial"
	// SyncedAfterProcessing: HasSynced turns true when the last initial item has been processed,
	// not when its processing begins.
	SyncedAfterProcessing Capability = "SyncedAfterProcessing"
	// FreeProducers: Add, Update, Delete, Replace and Resync do not wait for a process function.
	FreeProducers Capability = "FreeProducers"
	// RefusesAfterClose: after Close, callers get ErrFIFOClosed.
	RefusesAfterClose Capability = "RefusesAfterClose"
	// SkipsRefused: an object of a list without a key, or that Transform refuses, costs only itself,
	// and a deletion is queued although Transform refuses its object.
	SkipsRefused Capability = "SkipsRefused"
	// FailedAddIsNoPopulation: an Add that fails does not count as the first call.
	FailedAddIsNoPopulation Capability = "FailedAddIsNoPopulation"
	// TransformErrors: if Transform refuses an object, the caller gets a *TransformError with the
	// key and the cause.
	TransformErrors Capability = "TransformErrors"
	// Looking: the queue has the methods Len and Snapshot of deltafifo.Interface and calls the
	// hooks of Config.Trace.
	Looking Capability = "Looking"
)

// Capabilities lists all capabilities.
var Capabilities = []Capability{
	Accumulation, KnowsWhatWaits, Requeue, RequeueStaysInitial, SyncedAfterProcessing, FreeProducers,
	RefusesAfterClose, SkipsRefused, FailedAddIsNoPopulation, TransformErrors, Looking,
}

// has reports whether the implementation has the capability.
func (i Implementation) has(c Capability) bool {
	_, lacks := i.Lacks[c]
	return !lacks
}

// Run runs the whole suite against impl, one subtest per behaviour.
func Run(t *testing.T, impl Implementation) {
	t.Helper()
	for c, reason := range impl.Lacks {
		require.Contains(t, Capabilities, c, "an unknown capability")
		require.NotEmpty(t, reason, "Lacks gives no reason for %q", c)
		t.Logf("without %s: %s", c, reason)
	}
	for _, group := range []struct {
		name  string
		tests []behaviour
	}{
		{"Order", orderTests},
		{"Replace", replaceTests},
		{"Resync", resyncTests},
		{"Synced", syncedTests},
		{"Pop", popTests},
		{"During", duringTests},
		{"Blocked", blockedTests},
		{"Looking", lookingTests},
		{"Errors", errorTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, b := range group.tests {
				t.Run(b.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						stuck := time.AfterFunc(24*time.Hour, func() {
							t.Error("want every call to return, got a call that blocks forever; the stacks " +
								"below show where")
						})
						defer stuck.Stop()
						b.test(t, impl)
					})
				})
			}
		})
	}
}

type behaviour struct {
	name string
	test func(t *testing.T, impl Implementation)
}

// rig is a queue with a consumer behind it, and the vocabulary of the tests.
type rig struct {
	*testing.T
	impl     Implementation
	queue    Queue
	consumer *Consumer
	lists    int      // calls of Replace; each is at the next resource version
	seen     []string // by the hooks that a change sets
}

// change changes the configuration of a rig's queue.
type change func(r *rig, cfg *deltafifo.Config[*Object])

// blind: the queue has no KnownObjects.
func blind(_ *rig, cfg *deltafifo.Config[*Object]) { cfg.KnownObjects = nil }

// newRig returns a new rig whose consumer holds these objects: "a@1 b@2". It closes the queue when
// the test is over, so that a failed test leaves no blocked Pop in its bubble. The cleanup does not
// wait: a test that panicked may have left the queue locked.
func newRig(t *testing.T, impl Implementation, known string, changes ...change) *rig {
	r := &rig{T: t, impl: impl, consumer: NewConsumer(objects(t, known)...)}
	cfg := deltafifo.Config[*Object]{KeyFunc: KeyFunc, KnownObjects: r.consumer}
	for _, change := range changes {
		if change != nil {
			change(r, &cfg)
		}
	}
	r.queue = impl.New(cfg)
	t.Cleanup(func() { go r.queue.Close() })
	return r
}

// with makes a test of one that begins with a rig.
func with(known string, test func(r *rig), changes ...change) func(*testing.T, Implementation) {
	return func(t *testing.T, impl Implementation) { test(newRig(t, impl, known, changes...)) }
}

func (r *rig) has(c Capability) bool { return r.impl.has(c) }

func (r *rig) add(name string, version int) {
	r.Helper()
	assert.NoError(r, r.queue.Add(Obj(name, version)))
}

func (r *rig) update(name string, version int) {
	r.Helper()
	assert.NoError(r, r.queue.Update(Obj(name, version)))
}

func (r *rig) delete(name string, version int) {
	r.Helper()
	assert.NoError(r, r.queue.Delete(Obj(name, version)))
}

func (r *rig) replace(items ...*Object) {
	r.Helper()
	r.lists++
	r.assertSkips(items, r.queue.Replace(items, strconv.Itoa(r.lists)))
}

func (r *rig) resync() {
	r.Helper()
	assert.NoError(r, r.queue.Resync())
}

// take is Pop. It fails and closes the queue if Pop blocks forever, and asserts what holds for all
// deltas.
func (r *rig) take(process func(key string, d deltafifo.Deltas[*Object],
	isInInitialList bool) error) (deltafifo.Deltas[*Object], error) {
	blocked := time.AfterFunc(longest, func() {
		r.Error("want deltas or ErrFIFOClosed from Pop, got a Pop that blocks forever")
		r.queue.Close()
	})
	defer blocked.Stop()
	return r.queue.Pop(func(key string, d deltafifo.Deltas[*Object], initial bool) error {
		blocked.Stop()
		assert.NotEmpty(r, d, "Pop returned the key %q without deltas", key)
		for _, delta := range d {
			switch {
			case delta.Tombstone != nil:
				assert.Equal(r, deltafifo.Deleted, delta.Type, "a tombstone is a deletion")
				assert.Equal(r, key, delta.Tombstone.Key, "the tombstone has the key of another object")
				assert.Same(r, delta.Object, delta.Tombstone.Obj,
					"the tombstone of %q has another object than its delta", key)
			case delta.Object == nil:
				assert.Fail(r, "Pop returned a delta without an object", "%s %q", delta.Type, key)
			case delta.Object.Name != key:
				assert.Fail(r, "Pop returned an object under another object's key", "%s under %q", delta.Object, key)
			}
		}
		return process(key, d, initial)
	})
}

// longest is the virtual time after which a call counts as blocked forever. No process function
// takes that long.
const longest = 12 * time.Hour

// pop hands one key to the consumer and returns its deltas as text: "a: Added a@1".
func (r *rig) pop() string {
	r.Helper()
	return r.popDuring(func() {})
}

// popDuring is pop, and calls during while the deltas are being processed and the store does not
// show them yet.
func (r *rig) popDuring(during func()) string {
	r.Helper()
	text := ""
	_, err := r.take(func(key string, d deltafifo.Deltas[*Object], initial bool) error {
		text = key + ": " + DescribeAll(d)
		during()
		return r.consumer.Process(key, d, initial)
	})
	require.NoError(r, err)
	return text
}

// popFailing is Pop with a process function that returns err and leaves the store unchanged.
func (r *rig) popFailing(err error) (deltafifo.Deltas[*Object], error) {
	return r.take(func(string, deltafifo.Deltas[*Object], bool) error { return err })
}

// drain closes the queue and returns everything that it still hands out.
func (r *rig) drain() []string {
	r.Helper()
	r.queue.Close()
	texts := []string{}
	for {
		_, err := r.take(func(key string, d deltafifo.Deltas[*Object], initial bool) error {
			texts = append(texts, key+": "+DescribeAll(d))
			return r.consumer.Process(key, d, initial)
		})
		if errors.Is(err, deltafifo.ErrFIFOClosed) {
			return texts
		}
		require.NoError(r, err)
		if len(texts) == 1000 {
			require.FailNow(r, "want each delta once, got an endless Pop", "the last ones: %s", joined(texts[990:]))
		}
	}
}

// expect closes the queue and asserts the waiting deltas, in order. Without Accumulation it
// compares them per key; suite_order.go tests the order between keys.
func (r *rig) expect(want ...string) {
	r.Helper()
	if !r.has(Accumulation) {
		r.expectAnyOrder(want...)
		return
	}
	assertHandedOut(r, want, r.drain())
}

// expectAnyOrder is expect for keys in the order of the store, which is undefined.
func (r *rig) expectAnyOrder(want ...string) {
	r.Helper()
	got := byKey(r.drain())
	assertHandedOut(r, slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got)))
}

// assertHandedOut asserts what the Pops after Close have handed out. The message has a line for
// each of the two, so that a reader sees the difference.
func assertHandedOut(t testing.TB, want, got []string) {
	t.Helper()
	if !slices.Equal(want, got) {
		end := ""
		if len(got) == 0 {
			end = ": Pop returned ErrFIFOClosed"
		}
		t.Errorf("want Pop to hand out %s\ngot                  %s%s", joined(want), joined(got), end)
	}
}

func joined(texts []string) string {
	if len(texts) == 0 {
		return "nothing"
	}
	return strings.Join(texts, "; ")
}

// byKey joins the deltas of each key: "a: Added a@1" and "a: Updated a@2" become "a: Added a@1,
// Updated a@2".
func byKey(reported []string) []string {
	at, joined := map[string]int{}, []string{}
	for _, text := range reported {
		key, deltas, _ := strings.Cut(text, ": ")
		if i, again := at[key]; again {
			joined[i] += ", " + deltas
			continue
		}
		at[key] = len(joined)
		joined = append(joined, text)
	}
	return joined
}
