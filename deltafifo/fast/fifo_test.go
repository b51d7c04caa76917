package fast_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/fast"
)

type (
	object = deltafifotest.Object
	deltas = deltafifo.Deltas[*deltafifotest.Object]
)

var obj = deltafifotest.Obj

func TestContract(t *testing.T) {
	deltafifotest.Run(t, deltafifotest.Implementation{
		New: func(cfg deltafifo.Config[*object]) deltafifotest.Queue { return fast.New(cfg) },
	})
}

// newQueue returns a new queue and its consumer.
func newQueue(known ...*object) (*fast.DeltaFIFO[*object], *deltafifotest.Consumer) {
	store := deltafifotest.NewConsumer(known...)
	return fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store}), store
}

// waiting pops everything without processing it and returns it as text.
func waiting(t *testing.T, queue *fast.DeltaFIFO[*object]) []string {
	t.Helper()
	require.NoError(t, queue.Check())
	texts := []string{}
	for queue.Len() > 0 {
		_, err := queue.Pop(func(key string, d deltas, _ bool) error {
			texts = append(texts, key+": "+deltafifotest.DescribeAll(d))
			return nil
		})
		require.NoError(t, err)
	}
	return texts
}

func TestNewNeedsAKeyFunc(t *testing.T) {
	assert.Panics(t, func() { fast.New(deltafifo.Config[*object]{}) })
}

func TestRequeuedDeltasTakeThePlaceOfTheNewerOnes(t *testing.T) {
	queue, _ := newQueue()
	require.NoError(t, queue.Add(obj("a", 1)))
	_, err := queue.Pop(func(string, deltas, bool) error {
		require.NoError(t, queue.Add(obj("b", 1)))
		require.NoError(t, queue.Update(obj("a", 2)))
		require.NoError(t, queue.Add(obj("c", 1)))
		return &deltafifo.ErrRequeue{}
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"b: Added b@1", "a: Added a@1, Updated a@2", "c: Added c@1"}, waiting(t, queue))
}

// A process function that ends its goroutine, as t.FailNow does, must not block the queue.
func TestProcessMayEndItsGoroutine(t *testing.T) {
	queue, _ := newQueue()
	require.NoError(t, queue.Replace([]*object{obj("a", 1)}, "1"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = queue.Pop(func(string, deltas, bool) error {
			runtime.Goexit()
			return nil
		})
	}()
	<-done
	assert.True(t, queue.HasSynced())
	assert.NoError(t, queue.Check())
	require.NoError(t, queue.Add(obj("b", 1)))
	assert.Equal(t, []string{"b: Added b@1"}, waiting(t, queue))
}

// A Sync can be in flight when the first list arrives. If it is requeued, its key stays initial
// because of the list.
func TestFirstListWhileASyncIsInFlightThatIsPutBack(t *testing.T) {
	queue, _ := newQueue(obj("a", 1))
	require.NoError(t, queue.Resync())
	_, err := queue.Pop(func(string, deltas, bool) error {
		require.NoError(t, queue.Replace([]*object{obj("a", 2)}, "1"))
		return &deltafifo.ErrRequeue{}
	})
	require.NoError(t, err)
	assert.False(t, queue.HasSynced())
	assert.Equal(t, []string{"a: Sync a@1, Replaced a@2"}, waiting(t, queue))
	assert.True(t, queue.HasSynced())
}

// kubernetes/kubernetes#103789, and the 130 ms for which client-go holds its lock for a list of
// 100,000 objects: the store is read without the lock, so a watch continues meanwhile. (Under the
// lock, the Add inside would never return.)
func TestIssue103789TheWatchGoesOnWhileTheStoreIsRead(t *testing.T) {
	store := &readWhile{Consumer: deltafifotest.NewConsumer(obj("a", 1))}
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})
	store.happens = func() { assert.NoError(t, queue.Add(obj("b", 1))) }
	require.NoError(t, queue.Resync())
	store.happens = func() { assert.NoError(t, queue.Add(obj("c", 1))) }
	require.NoError(t, queue.Replace(nil, "1"))
	assert.Equal(t, []string{
		"b: Added b@1, Deleted b@1 (inferred)",
		"a: Sync a@1, Deleted a@1 (inferred)",
		"c: Added c@1, Deleted c@1 (inferred)",
	}, waiting(t, queue))
}

// kubernetes/kubernetes#113305 is about one object that keeps a whole list in memory. Neither the
// queue nor its waiting deltas may keep handed-out objects alive.
func TestIssue113305HandedOutObjectsCanBeCollected(t *testing.T) {
	queue, _ := newQueue()
	const n = 2000
	var freed [n]weak.Pointer[object]
	items := make([]*object, n)
	for i := range items {
		items[i] = obj(strconv.Itoa(i), i)
		freed[i] = weak.Make(items[i])
	}
	require.NoError(t, queue.Replace(items, "1"))
	clear(items)

	kept := make([]deltas, 0, n/100)
	for i := range n - 1 {
		d, err := queue.Pop(func(string, deltas, bool) error { return nil })
		require.NoError(t, err)
		if i%100 == 0 {
			kept = append(kept, d) // a consumer may keep some deltas
		}
	}
	runtime.GC()
	alive := 0
	for i := range freed {
		if freed[i].Value() != nil {
			alive++
		}
	}
	assert.Equal(t, len(kept)+1, alive, "the deltas that the consumer kept, and the waiting one")
	runtime.KeepAlive(kept)
	runtime.KeepAlive(queue)
}

// readWhile is a store that calls happens during a scan: after the keys were listed and before an
// object is looked up.
type readWhile struct {
	*deltafifotest.Consumer
	happens func()
}

func (r *readWhile) ListKeys() []string {
	keys := r.Consumer.ListKeys()
	if happens := r.happens; happens != nil {
		r.happens = nil
		happens()
	}
	return keys
}

// objectsOf reads "a@1", "b@2".
func objectsOf(t *testing.T, words []string) []*object {
	objects := []*object{}
	for _, word := range words {
		name, version, _ := strings.Cut(word, "@")
		n, err := strconv.Atoi(version)
		if err != nil {
			t.Fatalf("%q is not an object like a@1: %v", word, err)
		}
		objects = append(objects, obj(name, n))
	}
	return objects
}

// produce makes a call of a producer.
func produce(t *testing.T, queue *fast.DeltaFIFO[*object], command string, objects []*object) error {
	switch command {
	case "add":
		return queue.Add(objects[0])
	case "update":
		return queue.Update(objects[0])
	case "delete":
		return queue.Delete(objects[0])
	case "list":
		return queue.Replace(objects, "1")
	case "resync":
		return queue.Resync()
	}
	t.Fatalf("unknown command %q", command)
	return nil
}

// Replace and Resync read the store without a lock. These tests let a consumer take keys just then,
// so that the result of the scan is outdated when it is used.
func TestConsumersGoOnWhileTheStoreIsRead(t *testing.T) {
	for _, test := range []struct{ name, known, before, call, want string }{
		{name: "a list deletes an object added to the store meanwhile",
			before: "add a@1", call: "list", want: "a: Deleted a@1 (inferred)"},
		{name: "a list does not delete an object removed meanwhile", known: "a@1",
			before: "delete a@1", call: "list b@1", want: "b: Replaced b@1"},
		{name: "a tombstone has the store's present state", known: "a@1",
			before: "update a@2", call: "list", want: "a: Deleted a@2 (inferred)"},
		{name: "a listed object is not deleted although it was taken",
			before: "add a@1", call: "list a@2", want: "a: Replaced a@2"},
		{name: "a resync does not queue the old state", known: "a@1 b@1",
			before: "update a@2", call: "resync", want: "b: Sync b@1"},
		{name: "a resync does not restore a deleted object", known: "a@1",
			before: "delete a@2", call: "resync"},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := &readWhile{Consumer: deltafifotest.NewConsumer(objectsOf(t, strings.Fields(test.known))...)}
			queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})
			do := func(call string) {
				words := strings.Fields(call)
				require.NoError(t, produce(t, queue, words[0], objectsOf(t, words[1:])))
			}
			do(test.before)
			store.happens = func() {
				_, err := queue.Pop(store.Process)
				require.NoError(t, err)
			}
			do(test.call)
			assert.False(t, queue.Reading(), "taken keys would be recorded forever")
			assert.Equal(t, test.want, strings.Join(waiting(t, queue), "; "))
		})
	}
}

// The key is in flight when the scan begins and reaches the store during the scan.
func TestInFlightWhenTheReadingBegan(t *testing.T) {
	store := &readWhile{Consumer: deltafifotest.NewConsumer()}
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})
	require.NoError(t, queue.Add(obj("a", 1)))

	taken, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = queue.Pop(func(key string, d deltas, initial bool) error {
			close(taken)
			<-goOn
			return store.Process(key, d, initial)
		})
	}()
	<-taken
	store.happens = func() {
		close(goOn)
		<-done
	}
	require.NoError(t, queue.Replace(nil, "1"))
	assert.Equal(t, []string{"a: Deleted a@1 (inferred)"}, waiting(t, queue))
}

// A store that panics must leave the queue usable.
func TestAStoreThatPanicsWhileItIsRead(t *testing.T) {
	store := &readWhile{Consumer: deltafifotest.NewConsumer(obj("a", 1))}
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})
	store.happens = func() { panic("boom") }
	assert.PanicsWithValue(t, "boom", func() { _ = queue.Replace(nil, "1") })
	assert.False(t, queue.Reading())
	require.NoError(t, queue.Resync())
	assert.Equal(t, []string{"a: Sync a@1"}, waiting(t, queue))
}

// A tentative delete that the store does not confirm is reported as canceled.
func TestTraceReportsCancelledDeletions(t *testing.T) {
	log := []string{}
	store := deltafifotest.NewConsumer(obj("a", 1))
	trace := deltafifotest.NewTrace(&log)
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store, Trace: trace})
	require.NoError(t, queue.Delete(obj("a", 2)))
	log = nil
	_, err := queue.Pop(func(key string, d deltas, initial bool) error {
		require.NoError(t, queue.Replace(nil, "1"))
		return store.Process(key, d, initial)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"popped a: Deleted a@2, initial false, depth 0",
		"queued a: Deleted a@2 (inferred), depth 1",
		"replaced at 1: 0 items, 1 tombstones, depth 1",
		"processed a: Deleted a@2, <nil>",
		"canceled a: Deleted a@2 (inferred)",
	}, log)
}

type pod struct{ key string }

// A hook that is not set, or a nil Trace, costs one branch. The one allocation is the record of the
// key, which contains its first delta.
func TestAllocations(t *testing.T) {
	for name, trace := range map[string]*deltafifo.Trace[*pod]{"no trace": nil, "no hooks": {}} {
		f := fast.New(deltafifo.Config[*pod]{KeyFunc: func(p *pod) (string, error) { return p.key, nil }, Trace: trace})
		p := &pod{key: "namespace/name"}
		nothing := func(string, deltafifo.Deltas[*pod], bool) error { return nil }
		assert.Equal(t, 1.0, testing.AllocsPerRun(1000, func() {
			_ = f.Add(p)
			_, _ = f.Pop(nothing)
		}), name)
	}
}

// A hook may keep deltas: what waits changes later, and they do not.
func TestHooksMayKeepDeltas(t *testing.T) {
	var kept deltas
	trace := &deltafifo.Trace[*object]{Requeued: func(_ string, d deltas, _ int) { kept = d }}
	store := deltafifotest.NewConsumer(obj("a", 1))
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store, Trace: trace})
	require.NoError(t, queue.Replace(nil, "1"))
	_, err := queue.Pop(func(string, deltas, bool) error { return &deltafifo.ErrRequeue{} })
	require.NoError(t, err)
	require.NoError(t, queue.Delete(obj("a", 2))) // takes the place of the tombstone
	assert.Equal(t, []string{"a: Deleted a@2"}, waiting(t, queue))
	assert.Equal(t, "Deleted a@1 (inferred)", deltafifotest.DescribeAll(kept),
		"later deltas change those that the hook Requeued got")
}
