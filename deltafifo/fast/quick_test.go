package fast_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/fast"
)

var names = []string{"a", "b", "c", "d"}

// op is one call of a producer.
type op struct {
	text   string
	resync bool
	apply  func(q deltafifotest.Queue) error
}

// drawOp draws a call. Versions count up, which makes every delta unique.
func drawOp(t *rapid.T, version *int) op {
	*version++
	v := *version
	name := rapid.SampledFrom(names).Draw(t, "name")
	kind := rapid.SampledFrom([]string{"Add", "Update", "Delete", "Delete", "Replace", "Resync"}).Draw(t, "kind")
	o := op{text: fmt.Sprintf("%s(%s@%d)", kind, name, v), resync: kind == "Resync"}
	switch kind {
	case "Add":
		o.apply = func(q deltafifotest.Queue) error { return q.Add(obj(name, v)) }
	case "Update":
		o.apply = func(q deltafifotest.Queue) error { return q.Update(obj(name, v)) }
	case "Delete":
		o.apply = func(q deltafifotest.Queue) error { return q.Delete(obj(name, v)) }
	case "Resync":
		o.apply = func(q deltafifotest.Queue) error { return q.Resync() }
	case "Replace":
		var items []*object
		for _, n := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "items") {
			items = append(items, obj(n, v))
		}
		o.text = fmt.Sprintf("Replace(%v)", items)
		o.apply = func(q deltafifotest.Queue) error { return q.Replace(items, "1") }
	}
	return o
}

// hiding is a store that omits one key from its list.
type hiding struct {
	*deltafifotest.Consumer
	key string
}

func (h *hiding) ListKeys() []string {
	return slices.DeleteFunc(h.Consumer.ListKeys(), func(key string) bool { return key == h.key })
}

// The central claim: a call while a key is in flight has the effect of the same call right after
// the consumer is done, except that a Resync skips the key in flight. The textbook form, which
// holds its lock meanwhile, defines that effect.
func TestQuickCallsDuringAreCallsAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		during := rapid.Bool().Draw(t, "with calls during")
		ourStore, theirStore := deltafifotest.NewConsumer(), &hiding{Consumer: deltafifotest.NewConsumer()}
		ours := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: ourStore})
		textbook := deltafifo.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: theirStore})
		version := 0
		forgotten := false // the textbook form counts a requeued initial item as processed

		pop := func(t *rapid.T) {
			if ours.Len() == 0 {
				return
			}
			outcome := rapid.SampledFrom([]string{"done", "done", "failed", "requeue", "panic"}).Draw(t, "outcome")
			var before, after []op
			if during {
				for range rapid.IntRange(0, 3).Draw(t, "calls before the store is written") {
					before = append(before, drawOp(t, &version))
				}
				for range rapid.IntRange(0, 1).Draw(t, "calls after the store is written") {
					after = append(after, drawOp(t, &version))
				}
			}
			consume := func(c *deltafifotest.Consumer, calls func([]op)) (key, text string, err error) {
				process := func(k string, d deltas, initial bool) error {
					key, text = k, fmt.Sprintf("%s (initial: %t)", deltafifotest.DescribeAll(d), initial)
					calls(before)
					if outcome == "done" {
						_ = c.Process(k, d, initial)
					}
					calls(after)
					switch outcome {
					case "failed":
						return errors.New("failed")
					case "requeue":
						return &deltafifo.ErrRequeue{}
					case "panic":
						panic("boom")
					}
					return nil
				}
				defer func() {
					if r := recover(); r != nil && r != "boom" {
						panic(r)
					}
				}()
				if c == ourStore {
					_, err = ours.Pop(process)
				} else {
					_, err = textbook.Pop(process)
				}
				return
			}

			if during { // a tentative delete may have reserved an earlier place for the key
				ours.Prefer(textbook.Snapshot().Waiting[0].Key)
			}
			key, reported, err := consume(ourStore, func(ops []op) {
				for _, o := range ops {
					require.NoError(t, o.apply(ours), o.text)
				}
			})
			wantKey, wantReported, wantErr := consume(theirStore.Consumer, func([]op) {})
			assert.Equal(t, wantKey, key)
			if !forgotten {
				assert.Equal(t, wantReported, reported)
			}
			assert.Equal(t, wantErr, err)
			forgotten = forgotten || outcome == "requeue" && strings.HasSuffix(reported, "(initial: true)")
			for _, o := range append(before, after...) {
				if o.resync {
					theirStore.key = key
				}
				require.NoError(t, o.apply(textbook), o.text)
				theirStore.key = ""
			}
		}

		t.Repeat(map[string]func(*rapid.T){
			"call": func(t *rapid.T) {
				o := drawOp(t, &version)
				assert.Equal(t, o.apply(textbook), o.apply(ours), o.text)
			},
			"pop":   pop,
			"pop 2": pop,
			"": func(t *rapid.T) {
				require.NoError(t, ours.Check())
				want, got := textbook.Snapshot(), ours.Snapshot()
				if during {
					byKey := func(a, b deltafifo.KeySnapshot) int { return strings.Compare(a.Key, b.Key) }
					slices.SortFunc(want.Waiting, byKey)
					slices.SortFunc(got.Waiting, byKey)
				}
				if forgotten {
					want, got = withoutInitial(want), withoutInitial(got)
				}
				assert.Equal(t, want, got)
				assert.Equal(t, theirStore.Journal(), ourStore.Journal())
			},
		})
	})
}

// withoutInitial returns s without the initial population.
func withoutInitial(s deltafifo.Snapshot) deltafifo.Snapshot {
	s.InitialLeft, s.Synced = 0, false
	for i := range s.Waiting {
		s.Waiting[i].IsInInitialList = false
	}
	return s
}

// server is the source of truth, with a watch that can break.
type server struct {
	objects   map[string]*object
	version   int
	connected bool
}

// change changes the object and reports it to the queue if the watch is open.
func (s *server) change(name string, queue deltafifotest.Queue, deletes bool) error {
	s.version++
	_, exists := s.objects[name]
	report := queue.Add
	switch {
	case exists && deletes:
		report = queue.Delete
	case exists:
		report = queue.Update
	case deletes:
		return nil
	}
	o := obj(name, s.version)
	if s.objects[name] = o; deletes {
		delete(s.objects, name)
	}
	if !s.connected {
		return nil
	}
	return report(o)
}

// list reconnects as a reflector does: with a list, and a watch from there.
func (s *server) list(queue deltafifotest.Queue) error {
	s.connected = true
	return queue.Replace(slices.Collect(maps.Values(s.objects)), fmt.Sprint(s.version))
}

// checkJournal replays the handler's events: additions and deletions of each object alternate, each
// update starts from the previous state, and the final state is the store's.
func checkJournal(t require.TestingT, c *deltafifotest.Consumer) {
	believed := map[string]string{}
	for i, line := range c.Journal() {
		words := strings.Fields(line)
		name, _, _ := strings.Cut(words[1], "@")
		_, exists := believed[name]
		switch words[0] {
		case "add":
			require.False(t, exists, "line %d: %s", i, line)
			believed[name] = words[1]
		case "update":
			require.Equal(t, believed[name], words[1], "line %d: %s", i, line)
			believed[name] = words[2]
		case "delete":
			require.True(t, exists, "line %d: %s", i, line)
			delete(believed, name)
		}
	}
	assert.ElementsMatch(t, c.Objects(), slices.Collect(maps.Values(believed)))
}

func (s *server) texts() []string {
	texts := []string{}
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		texts = append(texts, s.objects[name].String())
	}
	return texts
}

// Whatever the server does, the watch misses and the consumer requeues, handlers see a gapless
// history that ends in the server's state.
func TestQuickTheStoryEndsInTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := server{objects: map[string]*object{}}
		store := deltafifotest.NewConsumer()
		queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})

		happen := map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				require.NoError(t, truth.change(rapid.SampledFrom(names).Draw(t, "name"), queue,
					rapid.Bool().Draw(t, "delete")))
			},
			"disconnect": func(*rapid.T) { truth.connected = false },
			"list":       func(t *rapid.T) { require.NoError(t, truth.list(queue)) },
			"resync":     func(t *rapid.T) { require.NoError(t, queue.Resync()) },
		}
		kinds := []string{"change", "change", "change", "disconnect", "list", "resync"}
		pop := func(t *rapid.T) {
			if queue.Len() == 0 {
				return
			}
			_, err := queue.Pop(func(key string, d deltas, initial bool) error {
				for range rapid.IntRange(0, 2).Draw(t, "events during") {
					happen[rapid.SampledFrom(kinds).Draw(t, "event")](t)
				}
				if rapid.IntRange(0, 4).Draw(t, "requeue") == 0 {
					return &deltafifo.ErrRequeue{}
				}
				require.NoError(t, store.Process(key, d, initial))
				for range rapid.IntRange(0, 1).Draw(t, "events after") {
					happen[rapid.SampledFrom(kinds).Draw(t, "event")](t)
				}
				return nil
			})
			require.NoError(t, err)
			require.NoError(t, queue.Check())
		}
		actions := maps.Clone(happen)
		actions["change more"] = happen["change"]
		actions["pop"], actions["pop more"] = pop, pop
		t.Repeat(actions)

		require.NoError(t, truth.list(queue))
		queue.Close()
		for {
			if _, err := queue.Pop(store.Process); errors.Is(err, deltafifo.ErrFIFOClosed) {
				break
			}
		}
		assert.Equal(t, truth.texts(), store.Objects())
		checkJournal(t, store)
	})
}

// The same with goroutines: a reflector that watches and lists, a resync timer, a reader of
// snapshots, and a consumer, under the race detector.
func TestConcurrentStoryEndsInTheTruth(t *testing.T) {
	const steps = 3000
	truth := server{objects: map[string]*object{}}
	store := deltafifotest.NewConsumer()
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})

	var others, consumer sync.WaitGroup
	stop := make(chan struct{})
	for _, look := range []func() error{
		queue.Resync,
		queue.Check,
		func() error { queue.Snapshot(); queue.Len(); return nil },
	} {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					assert.NoError(t, look())
				}
			}
		})
	}
	var patient atomic.Bool // the consumer requeues nothing any more
	consumer.Go(func() {
		for n := 0; ; n++ {
			_, err := queue.Pop(func(key string, d deltas, initial bool) error {
				if n%7 == 0 && !patient.Load() {
					return &deltafifo.ErrRequeue{}
				}
				return store.Process(key, d, initial)
			})
			if errors.Is(err, deltafifo.ErrFIFOClosed) {
				return
			}
			assert.NoError(t, err)
		}
	})

	for i := range steps {
		switch {
		case i%50 == 0:
			require.NoError(t, truth.list(queue))
		case i%50 == 30:
			truth.connected = false
		default:
			require.NoError(t, truth.change(names[(i*7)%len(names)], queue, i%3 == 0))
		}
	}
	require.NoError(t, truth.list(queue))
	close(stop)
	others.Wait()
	patient.Store(true)
	for s := queue.Snapshot(); len(s.Waiting) > 0 || s.InFlight != nil; s = queue.Snapshot() {
		runtime.Gosched() // requeued deltas must be back before Close
	}
	queue.Close()
	consumer.Wait()

	assert.Equal(t, truth.texts(), store.Objects())
	checkJournal(t, store)
}
