package trace_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/trace/tracetest"
	"orrery/queue"
)

// withSets runs a test of hooks and fold in a bubble, with each set of gears.
func withSets(t *testing.T, test func(*testing.T, gears.Set)) {
	for _, text := range []string{"fast", "textbook", "fast,deltafifo=inorder"} {
		set, err := gears.Parse(text)
		require.NoError(t, err)
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, set) })
		})
	}
}

// start starts a recorder that writes a file, and returns it with a function that stops it and
// returns the state at the end of the file.
func start(t *testing.T, config trace.Config) (r *trace.Recorder, check func() *trace.State) {
	t.Helper()
	if config.File == "" {
		config.File = filepath.Join(t.TempDir(), "run.jsonl")
	}
	r, err := trace.Start(config)
	require.NoError(t, err)
	return r, func() *trace.State {
		t.Helper()
		r.Stop("done")
		require.NoError(t, r.Err())
		_, last := readFile(t, config.File)
		return last
	}
}

// readFile returns the events of a recording and its last state.
func readFile(t *testing.T, name string) ([]trace.Event, *trace.State) {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	events, last, err := tracetest.Read(file)
	require.NoError(t, err)
	return events, last
}

// The queue's state in the fold is that of the queue, at every rest, whatever it went through.
func TestQueueIsItsFold(t *testing.T) {
	withSets(t, func(t *testing.T, set gears.Set) {
		r, check := start(t, trace.Config{})
		q := set.NewQueue(queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
			queue.Config[string]{Trace: r.Queue("keys")})
		same := func() {
			t.Helper()
			synctest.Wait()
			state, snapshot := r.State(), q.Snapshot()
			folded := state.Queues["keys"]
			assert.Zero(t, state.Odd)
			assert.Equal(t, snapshot.Queued, folded.Waiting())
			assert.Len(t, folded.Processing, len(snapshot.Processing))
			for _, p := range snapshot.Processing {
				assert.Equal(t, p.Dirty, folded.Processing[p.Key].Dirty, p.Key)
			}
			assert.Len(t, folded.Delayed, len(snapshot.Delayed))
			assert.EqualValues(t, len(snapshot.Delayed), folded.DelayedTotal)
			assert.Equal(t, snapshot.ShuttingDown, folded.ShuttingDown)
		}
		for _, key := range []string{"a", "b", "a", "c"} {
			q.Add(key)
		}
		same()
		first, _ := q.Get()
		q.Get()
		q.Add(first)
		q.AddAfter("d", time.Hour)
		q.AddAfter("d", time.Minute)
		q.AddAfter("e", time.Hour)
		same()
		assert.Equal(t, []string{"a", "b"}, r.State().Queues["keys"].Slots())
		q.Done(first)
		q.Done("unknown")
		q.AddRateLimited("f")
		q.AddRateLimited("f")
		q.Add("e")
		same()
		assert.EqualValues(t, 2, r.State().Queues["keys"].Failures["f"])
		time.Sleep(2 * time.Minute)
		q.Forget("f")
		same()
		q.AddAfter("g", time.Hour)
		q.ShutDown()
		q.Add("h")
		same()
		last := check()
		assert.Zero(t, last.Odd)
		assert.Equal(t, "done", last.Ended)
	})
}

// The queue calls its hooks after its lock is free, so concurrent ones change places. The recording
// has them in the queue's order, whatever the order of the hooks was, and the fold is the queue's
// state: hooks of a real queue are kept and called in every kind of wrong order.
func TestQueueInOrder(t *testing.T) {
	type call func(*queue.Trace[string])
	shuffled := func(seed uint64) func([]call) {
		return func(calls []call) {
			swap := func(i, j int) { calls[i], calls[j] = calls[j], calls[i] }
			rand.New(rand.NewPCG(seed, 0)).Shuffle(len(calls), swap)
		}
	}
	orders := map[string]func([]call){
		"in order": func([]call) {}, "backwards": slices.Reverse[[]call],
		"the first last": func(calls []call) { copy(calls, append(slices.Clone(calls[1:]), calls[0])) },
		"shuffled":       shuffled(1), "shuffled again": shuffled(2),
	}
	for order, change := range orders {
		t.Run(order, func(t *testing.T) {
			withSets(t, func(t *testing.T, set gears.Set) {
				var calls []call
				keep := &queue.Trace[string]{}
				for _, name := range []string{"Added", "Coalesced", "Got", "Done"} {
					hook := reflect.ValueOf(keep).Elem().FieldByName(name)
					hook.Set(reflect.MakeFunc(hook.Type(), func(args []reflect.Value) []reflect.Value {
						calls = append(calls, func(r *queue.Trace[string]) {
							reflect.ValueOf(r).Elem().FieldByName(name).Call(args)
						})
						return nil
					}))
				}
				q := set.NewQueue(nil, queue.Config[string]{Trace: keep})
				for n := range 40 {
					q.Add(string(rune('a' + n%7)))
					q.Add("a")
					if n%3 == 0 {
						key, _ := q.Get()
						q.Add(key)
						q.Done(key)
					}
				}
				left, _ := q.Get()
				q.Add(left)
				snapshot := q.Snapshot()
				require.EqualValues(t, snapshot.Seq, len(calls), "each hook has a number")

				change(calls)
				r, check := start(t, trace.Config{})
				hooks := r.Queue("keys")
				for _, call := range calls {
					call(hooks)
				}
				last := check()
				assert.Empty(t, last.Lost)
				assert.Zero(t, last.Odd)
				folded := last.Queues["keys"]
				assert.Equal(t, snapshot.Queued, folded.Waiting())
				require.Len(t, folded.Processing, 1)
				assert.True(t, folded.Processing[left].Dirty)
				q.ShutDown()
			})
		})
	}
}

// What one kind of event changes in the state, and that one which contradicts the state is odd.
func TestWhatAnEventChanges(t *testing.T) {
	passed := []trace.Event{{Name: "nsctl.passStarted"}, {Name: "nsctl.phaseStarted", Phase: "pods"},
		{Name: "nsctl.phaseDone", Phase: "pods", Micros: 3}, {Name: "nsctl.typeDeleted", Resource: "pods", N: 2},
		{Name: "nsctl.typeDeleted", Resource: "nodes"}, {Name: "nsctl.phaseDone", Phase: "pods", Micros: 4},
		{Name: "nsctl.phaseStarted", Phase: "content"}, {Name: "nsctl.phaseDone", Phase: "pods"}}
	waits := []trace.Event{{Name: "queue.added"}, {Name: "queue.added", Key: "b"}, {Name: "queue.added", Key: "c"}}
	failed := []trace.Event{{Name: "reflector.stateChanged", To: "BackingOff"}, {Name: "reflector.backOff", Micros: 9}}
	asked := []trace.Event{{Name: "restclient.requestStart", Request: 1}, {Name: "restclient.requestStart", Request: 2},
		{Name: "restclient.requestDone", Request: 2, Code: 200}, {Name: "restclient.requestDone", Request: 1, Err: "x"}}
	held := []trace.Event{{Name: "lab.held", Gate: "G1"}, {Name: "lab.held", Gate: "G1", Key: "b"}}
	var contradictions []trace.Event
	for name := range strings.FieldsSeq("queue.done queue.delayEnded deltafifo.canceled indexer.updated " +
		"indexer.deleted deltafifo.processed restclient.requestDone restclient.watchClosed lab.stepped " +
		"nsctl.passDone") {
		contradictions = append(contradictions, trace.Event{Name: name})
	}
	for _, test := range []struct {
		path       string // in the state
		want       any
		from, then []trace.Event
	}{
		{"odd", 0, waits, []trace.Event{{Name: "queue.got"}, {Name: "queue.got", Key: "b"}}},
		{"odd", 1, waits, []trace.Event{{Name: "queue.got", Key: "b"}, {Name: "queue.got"}}},
		{"odd", 1, waits, []trace.Event{{Name: "queue.got"}, {Name: "queue.got"}, {Name: "queue.got", Key: "b"}}},
		{"odd", 1, waits, []trace.Event{{Name: "queue.got"}, {Name: "queue.added"}, {Name: "queue.added"}}},
		{"queues.i.delayedTotal", 0, waits, []trace.Event{{Name: "queue.delayed"}}},
		{"odd", 1, passed, []trace.Event{{Name: "nsctl.passStarted"}}},
		{"namespaces.a.phases.pods", 7, passed, nil},
		{"namespaces.a.phase", "content", passed, nil},
		{"namespaces.a.phase", "", passed, []trace.Event{{Name: "nsctl.passDone"}}},
		{"namespaces.a.remaining", map[string]any{"pods": 2.0}, passed, nil},
		{"namespaces.a.remaining", map[string]any{}, passed, []trace.Event{{Name: "nsctl.passStarted"}}},
		{"namespaces.a.passes", 1, passed, []trace.Event{{Name: "nsctl.enqueued", UID: "1"}}},
		{"namespaces.a.passes", 0, passed, []trace.Event{{Name: "nsctl.enqueued", UID: "1"},
			{Name: "nsctl.enqueued", UID: "2"}}},
		{"informers.i.reflector.failures", 1, failed, nil},
		{"informers.i.reflector.failures", 0, failed, []trace.Event{{Name: "reflector.event"}}},
		{"informers.i.reflector.backOff", 0, failed, []trace.Event{{Name: "reflector.stateChanged", To: "Listing"}}},
		{"informers.i.reflector.err", "x", failed, []trace.Event{{Name: "reflector.backOff", Err: "x"},
			{Name: "reflector.backOff"}}},
		{"odd", 10, nil, contradictions},
		{"informers.i.handlers.h#1.panics", 1, nil, []trace.Event{{Name: "informer.handlerPanicked", Handler: "h#1"}}},
		{"requests.failed", 1, asked,
			[]trace.Event{{Name: "restclient.requestStart"}, {Name: "restclient.requestDone"}}},
		{"requests.latest.2.code", 200, asked, nil},
		{"lab.held.G1", []any{"b"}, held, []trace.Event{{Name: "lab.stepped", Gate: "G1"}}},
		{"lab.held", map[string]any{}, held, []trace.Event{{Name: "lab.stepped", Gate: "G1"},
			{Name: "lab.stepped", Gate: "G1", Key: "b"}}},
	} {
		state := trace.NewState()
		for _, e := range slices.Concat(test.from, test.then) {
			e.Seq, e.In, e.Key = state.Seq+1, "i", cmp.Or(e.Key, "a")
			state.Apply(&e)
			state = state.Clone()
		}
		var got any = decoded(t, state)
		for name := range strings.SplitSeq(test.path, ".") {
			got = got.(map[string]any)[name]
		}
		assert.EqualValues(t, test.want, got, "%s after %+v", test.path, test.then)
	}
}

// The events behind a missing one wait 100 ms for it. If it comes later, it is recorded then.
func TestQueueWithALateHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, check := start(t, trace.Config{})
		hooks := r.Queue("keys")
		event := func(seq uint64) queue.Event[string] {
			return queue.Event[string]{Seq: seq, Key: strconv.FormatUint(seq, 10)}
		}
		hooks.Added(event(1))
		hooks.Added(event(3))
		time.Sleep(60 * time.Millisecond)
		assert.Equal(t, []string{"1"}, r.State().Queues["keys"].Waiting(), "event 2 may still come")
		time.Sleep(time.Second)
		assert.Equal(t, []string{"1", "3"}, r.State().Queues["keys"].Waiting())
		hooks.Added(event(2))
		last := check()
		assert.Empty(t, last.Lost)
		assert.Equal(t, []string{"1", "3", "2"}, last.Queues["keys"].Waiting())
		assert.EqualValues(t, 1_060_000, last.Time, "a time is in microseconds since the start")
	})
}

// A gap costs no more than the events around it, however many are missing: the numbers in it are
// not looked for one by one.
func TestHugeGapIsPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := trace.Start(trace.Config{})
		require.NoError(t, err)
		hooks := r.Queue("keys")
		hooks.Added(queue.Event[string]{Key: "first", Seq: 1})
		hooks.Added(queue.Event[string]{Key: "last", Seq: 1<<50 + 4})
		hooks.Added(queue.Event[string]{Key: "third", Seq: 3})
		hooks.Added(queue.Event[string]{Key: "second", Seq: 2})
		r.Stop("")
		state := r.State()
		assert.Equal(t, []string{"first", "second", "third", "last"}, state.Queues["keys"].Waiting())
		assert.Empty(t, state.Lost)
	})
}
