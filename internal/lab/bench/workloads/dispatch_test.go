package workloads

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/restclient/api"
)

func smallDispatch() *DispatchConfig {
	return configured(func(c *DispatchConfig) { c.Objects, c.Duration, c.Rate = 50, 20*time.Millisecond, 5000 })
}

// spoilt is a subject whose handlers get wrong events.
type spoilt struct {
	DispatchSubject
	spoil func(h Handler) Handler
}

type spoiltInformer struct {
	DispatchInformer
	spoil func(h Handler) Handler
}

func (s spoilt) New() DispatchInformer { return spoiltInformer{s.DispatchSubject.New(), s.spoil} }

func (s spoiltInformer) AddHandler(h Handler) error { return s.DispatchInformer.AddHandler(s.spoil(h)) }

// interceptor passes on all events but the one numbered at.
type interceptor struct {
	Handler
	at, seen int
	instead  func(h Handler, old, state State)
}

func (i *interceptor) OnUpdate(old, state State) {
	if i.seen++; i.seen == i.at {
		i.instead(i.Handler, old, state)
		return
	}
	i.Handler.OnUpdate(old, state)
}

// pod returns a state in the first namespace, which is that of all pods if there are less than two
// hundred.
func pod(name, version string) *api.Pod {
	return &api.Pod{ObjectMeta: api.ObjectMeta{Namespace: "namespace-000", Name: name, ResourceVersion: version}}
}

func TestFaultsAreDetected(t *testing.T) {
	version := func(state State, add int) State {
		v, _ := strconv.Atoi(state.GetResourceVersion())
		return pod(state.GetName(), strconv.Itoa(v+add))
	}
	for name, instead := range map[string]func(h Handler, old, state State){
		"lost":               func(Handler, State, State) {},
		"repeated":           func(h Handler, old, state State) { h.OnUpdate(old, state); h.OnUpdate(old, state) },
		"from another state": func(h Handler, old, state State) { h.OnUpdate(version(old, 1), state) },
		"of another object": func(h Handler, old, state State) {
			h.OnUpdate(old, pod(state.GetName()+"x", state.GetResourceVersion()))
		},
		"in another version": func(h Handler, old, state State) { h.OnUpdate(old, version(state, 1)) },
		"in a version that never was": func(h Handler, old, state State) {
			h.OnUpdate(old, pod(state.GetName(), "1"))
		},
		"an addition":         func(h Handler, _, state State) { h.OnAdd(state) },
		"a deletion":          func(h Handler, _, state State) { h.OnDelete(state) },
		"a deletion too many": func(h Handler, _, state State) { h.OnDelete(state); h.OnDelete(state) },
	} {
		for _, merges := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", merging"}[merges], func(t *testing.T) {
				var subject DispatchSubject = spoilt{DesignFast, func(h Handler) Handler {
					return &interceptor{Handler: h, at: 100, instead: instead}
				}}
				if merges {
					subject = merging{subject}
				}
				cfg := smallDispatch()
				_, err := RunDispatch(t.Context(), subject, cfg, nil)
				assert.ErrorAs(t, err, new(*bench.ProofError))
			})
		}
	}
}

// merging makes a subject report that it merges events, which weakens the proof.
type merging struct{ DispatchSubject }

func (merging) Merges() bool { return true }

// still is an informer that sends nothing.
type still struct {
	DispatchInformer
	stored []State
}

func (*still) Send(State)                     {}
func (*still) As(state State, _ string) State { return state }
func (s *still) Stored() []State              { return s.stored }

// silentWorld returns a world of some objects, the mark included, with one handler that has the
// initial list. A test calls the handler itself.
func silentWorld(objects int, merges bool) (*world, *witness) {
	w := &world{merges: merges, states: make([][2]State, objects)}
	informer := &still{}
	for object := range objects {
		w.names, w.last = append(w.names, podName{"namespace-000", strconv.Itoa(object)}), append(w.last, 2*object)
		informer.stored = append(informer.stored, w.state(2*object))
	}
	w.informer = informer
	handler := newWitness(w)
	w.witnesses = []*witness{handler}
	for object := range objects {
		handler.OnAdd(w.state(2 * object))
	}
	return w, handler
}

func (w *world) state(number int) State {
	return pod(w.names[w.object(number)].name, versionOf(number))
}

// deliver calls the handler with a version, from the version delivered before.
func (w *witness) deliver(number int) {
	w.OnUpdate(pod("", versionOf(w.delivered[w.world.object(number)])), w.world.state(number))
}

// A wrong store has fewer objects, or another version of one; a wrong list has an object twice.
func TestAWrongStoreOrListIsDetected(t *testing.T) {
	w, handler := silentWorld(3, false)
	require.NoError(t, w.verify())
	stored := w.informer.(*still)
	all := stored.stored
	stored.stored = []State{all[0], pod("1", "1"), all[2]}
	assert.ErrorAs(t, w.verify(), new(*bench.ProofError))
	stored.stored = all[:2]
	assert.ErrorAs(t, w.verify(), new(*bench.ProofError))
	stored.stored = all
	require.NoError(t, w.verify())
	handler.OnAdd(w.state(0))
	assert.ErrorAs(t, w.verify(), new(*bench.ProofError))
}

// A stalled handler that misses an update is detected, for each promise.
func TestAStalledHandlerThatMissesAnUpdateIsDetected(t *testing.T) {
	subject := spoilt{DesignFast, func(h Handler) Handler {
		return &interceptor{Handler: h, at: 1000, instead: func(Handler, State, State) {}}
	}}
	for _, promising := range []DispatchSubject{subject, merging{subject}} {
		_, err := stalledScenario("stalled", promising).Run(t.Context(), bench.Quick)
		assert.ErrorAs(t, err, new(*bench.ProofError))
	}
}

// A counting witness detects missing, extra and wrong updates.
func TestAWitnessThatCounts(t *testing.T) {
	const mark = 2
	for name, c := range map[string]struct {
		counted []int // the objects of the updates while it counts; two are sent, and then the mark
		next    int   // the version after the mark
		marked  int
		right   bool
	}{
		"right":              {[]int{0, 1, mark}, 0, 1, true},
		"one is missing":     {[]int{0, mark}, 0, 0, false},
		"one too many":       {[]int{0, 1, 1, mark}, 0, 1, false},
		"not the last state": {[]int{0, 1, mark}, 1, 1, false},
	} {
		w, handler := silentWorld(3, false)
		w.count(2)
		for object := range 3 {
			w.send(object)
		}
		for _, object := range c.counted {
			handler.deliver(2*object + 1)
		}
		assert.Len(t, handler.marked, c.marked, name)
		if c.marked == 0 {
			continue // drain reports it
		}
		w.resume()
		w.send(0)
		handler.deliver(c.next)
		assert.Equal(t, c.right, handler.verify() == nil, name)
	}
}

// The latency of merged events counts from the oldest of them.
func TestMergedEventsAreLateSinceTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, handler := silentWorld(3, true)
		w.due, w.once = &bench.Phase{Driver: bench.Driver{Load: bench.Load{Rate: 1}}, Events: 9}, make([]onceEvent, 9)
		w.due.Begin()
		began := time.Now()
		for i, object := range []int{0, 0, 1, 1, 0, 1, 0, 1, 0} {
			w.sendOnce(i, object, nil)
		}
		deliver := func(at time.Duration, i int) time.Duration {
			time.Sleep(at - time.Since(began))
			handler.latency = bench.Histogram{}
			handler.deliver(w.stateCount() + i)
			return handler.latency.Max()
		}
		// The events 0, 1 and 4 are of object 0; the handler gets the last.
		assert.Equal(t, 5*time.Second, deliver(5*time.Second, 4))
		// Object 0 follows with 6 and 8: merged again.
		assert.Equal(t, 4*time.Second, deliver(10*time.Second, 8))
		// Object 1 was first due at 2 s.
		assert.Equal(t, 9*time.Second, deliver(11*time.Second, 7))
		assert.NoError(t, handler.fault)
	})
}
