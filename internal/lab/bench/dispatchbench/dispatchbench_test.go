package dispatchbench

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/benchtest"
	"orrery/internal/lab/bench/load"
	"orrery/restclient/api"
)

// with returns the default configuration with the nonzero fields of c.
func with(c Config) *Config { return benchtest.With(c, (*Config).AddTo) }

func small() *Config {
	return with(Config{Objects: 50, Load: load.Load{Duration: 20 * time.Millisecond}})
}

func TestRunOfEachDesign(t *testing.T) {
	for _, design := range Designs() {
		for _, kind := range []Kind{Heads, Pods} {
			t.Run(string(design)+" "+string(kind), func(t *testing.T) {
				cfg := small()
				cfg.Kind, cfg.Handlers, cfg.Distribution, cfg.HandlerCost = kind, 3, load.Hot, time.Microsecond
				meter := &bench.Meter{}
				result, err := Run(t.Context(), Orrery(design), cfg, meter)
				require.NoError(t, err)
				events, ok := result.Figure("events")
				assert.True(t, ok)
				assert.Positive(t, events.Value)
				assert.Positive(t, result.Latency.Count())
				assert.Len(t, result.Proof, 2)
				assert.Contains(t, meter.Phase().Name, "events a second")
			})
		}
	}
}

func TestRunMeasuresEachEventOfTheSteadyRate(t *testing.T) {
	cfg := small()
	cfg.Rate, cfg.Handlers = 10_000, 2
	result, err := Run(t.Context(), Orrery(Fast), cfg, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 2*200, result.Latency.Count(), "each event at each handler")
	rate, _ := result.Figure("rate for latency")
	assert.Equal(t, 10_000.0, rate.Value)
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	cfg := small()
	cfg.Duration = time.Hour
	_, err := Run(ctx, Orrery(Bounded), cfg, nil)
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	cfg.Duration, cfg.Rate = 10*time.Millisecond, 1e-6
	result, err := Run(t.Context(), Orrery(Fast), cfg, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 1, result.Latency.Count(), "one event is due at once, the next one in eleven days")
}

// On a busy machine the time may be up before the first event.
func TestAVeryShortRunMeasuresSomething(t *testing.T) {
	cfg := small()
	cfg.Duration = 1
	result, err := Run(t.Context(), Orrery(Fast), cfg, nil)
	require.NoError(t, err)
	events, _ := result.Figure("events")
	assert.Positive(t, events.Value)
	assert.Positive(t, result.Latency.Count())
}

// spoilt is a subject whose handlers get wrong events.
type spoilt struct {
	Subject
	spoil func(h Handler) Handler
}

type spoiltInformer struct {
	Informer
	spoil func(h Handler) Handler
}

func (s spoilt) New(kind Kind) (Informer, error) {
	inner, err := s.Subject.New(kind)
	return spoiltInformer{inner, s.spoil}, err
}

func (s spoiltInformer) AddHandler(h Handler) error { return s.Informer.AddHandler(s.spoil(h)) }

// interceptor passes on all events but the one numbered at.
type interceptor struct {
	Handler
	at, seen int
	instead  func(h Handler, oldVersion string, id Identity)
}

func (i *interceptor) OnUpdate(oldVersion string, id Identity) {
	if i.seen++; i.seen == i.at {
		i.instead(i.Handler, oldVersion, id)
		return
	}
	i.Handler.OnUpdate(oldVersion, id)
}

func TestFaultsAreDetected(t *testing.T) {
	version := func(text string, add int) string {
		v, _ := strconv.Atoi(text)
		return strconv.Itoa(v + add)
	}
	for name, instead := range map[string]func(h Handler, oldVersion string, id Identity){
		"lost":     func(Handler, string, Identity) {},
		"repeated": func(h Handler, old string, id Identity) { h.OnUpdate(old, id); h.OnUpdate(old, id) },
		"from another state": func(h Handler, old string, id Identity) {
			h.OnUpdate(version(old, 1), id)
		},
		"of another object": func(h Handler, old string, id Identity) {
			id.Name += "x"
			h.OnUpdate(old, id)
		},
		"in another version": func(h Handler, old string, id Identity) {
			id.ResourceVersion = version(id.ResourceVersion, 1)
			h.OnUpdate(old, id)
		},
		"in a version that never was": func(h Handler, old string, id Identity) {
			id.ResourceVersion = "1"
			h.OnUpdate(old, id)
		},
		"an addition":         func(h Handler, _ string, id Identity) { h.OnAdd(id) },
		"a deletion":          func(h Handler, _ string, id Identity) { h.OnDelete(id) },
		"a deletion too many": func(h Handler, _ string, id Identity) { h.OnDelete(id); h.OnDelete(id) },
	} {
		for _, merges := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", merging"}[merges], func(t *testing.T) {
				var subject Subject = spoilt{Orrery(Fast), func(h Handler) Handler {
					return &interceptor{Handler: h, at: 100, instead: instead}
				}}
				if merges {
					subject = merging{subject}
				}
				cfg := small()
				_, err := Run(t.Context(), subject, cfg, nil)
				assert.ErrorAs(t, err, new(*bench.ProofError))
			})
		}
	}
}

// merging makes a subject report that it merges events, which weakens the proof.
type merging struct{ Subject }

func (merging) Merges() bool { return true }

// A wrong store has fewer objects, or another version of one.
func TestAWrongStoreIsDetected(t *testing.T) {
	s := newRound(Config{Objects: 3})
	right := map[string]string{}
	for object, key := range s.keys {
		right[key] = s.initialIdentity(object).ResourceVersion
	}
	assert.NoError(t, newState(s).verify(right))
	right[s.keys[1]] = "1"
	assert.ErrorAs(t, newState(s).verify(right), new(*bench.ProofError))
	delete(right, s.keys[1])
	assert.ErrorAs(t, newState(s).verify(right), new(*bench.ProofError))
}

func TestAWrongListIsDetected(t *testing.T) {
	s := newRound(Config{Objects: 3})
	w := newWitness(s, false)
	w.OnAdd(s.initialIdentity(0))
	assert.NoError(t, w.fault)
	w.OnAdd(s.initialIdentity(0))
	assert.ErrorAs(t, w.fault, new(*bench.ProofError))
}

func TestScenarios(t *testing.T) {
	names := map[string]bool{}
	for _, s := range Scenarios(Orrery(Fast)) {
		names[s.Name] = true
		if s.Name != "dispatch/1" && s.Name != "dispatch/idle" && !strings.Contains(s.Name, "stalled") {
			continue // they differ in numbers
		}
		outcome, err := s.Run(t.Context(), bench.Quick)
		require.NoError(t, err, s.Name)
		assert.NotEmpty(t, outcome.Figures)
		assert.NotEmpty(t, outcome.Proof)
	}
	for _, name := range []string{
		"dispatch/1", "dispatch/4", "dispatch/16", "dispatch/idle", "dispatch/stalled-default", "dispatch/stalled-coalescing",
	} {
		assert.Contains(t, names, name)
	}
}

// A stalled handler that misses an update is detected, for each promise.
func TestAStalledHandlerThatMissesAnUpdateIsDetected(t *testing.T) {
	subject := spoilt{Orrery(Fast), func(h Handler) Handler {
		return &interceptor{Handler: h, at: 1000, instead: func(Handler, string, Identity) {}}
	}}
	for _, promised := range []promise{everyUpdate, finalState} {
		_, err := stalledScenario("stalled", subject, Heads, promised).Run(t.Context(), bench.Quick)
		assert.ErrorAs(t, err, new(*bench.ProofError))
	}
	f := newTracker(finalState, "1")
	f.OnDelete(Identity{})
	assert.Error(t, f.fault)
}

func TestScriptReturnsToItsBeginning(t *testing.T) {
	for _, distribution := range load.Distributions() {
		cfg := Config{Objects: 100, Load: load.Load{Distribution: distribution}}
		s := newScript(cfg, 1000)
		last := append([]int32(nil), s.last...)
		for i, e := range s.events {
			assert.Equal(t, last[e.object], e.previous)
			assert.NotEqual(t, int32(i), e.previous, "an update without a new version is none")
			last[e.object] = int32(i)
		}
		assert.Equal(t, s.last, last)
	}
}

func TestUnknownKind(t *testing.T) {
	_, err := Orrery(Fast).New("boxes")
	assert.Error(t, err)
}

func TestCloneSharesNothing(t *testing.T) {
	var pod api.Pod
	require.NoError(t, json.Unmarshal(document(10), &pod))
	pod.Finalizers = []string{"a"}
	copied := Clone(&pod)
	require.Equal(t, &pod, copied)
	assert.NotSame(t, &pod, copied)
	assert.NotSame(t, unsafe.StringData(pod.Name), unsafe.StringData(copied.Name))
	assert.NotSame(t, unsafe.StringData(pod.Labels["app"]), unsafe.StringData(copied.Labels["app"]))
	assert.NotSame(t, pod.OwnerReferences[0].Controller, copied.OwnerReferences[0].Controller)
	copied.Labels["app"], copied.Finalizers[0] = "changed", "changed"
	assert.Equal(t, "web", pod.Labels["app"])
	assert.Equal(t, "a", pod.Finalizers[0])
}

// A counting witness detects missing, extra and wrong updates.
func TestAWitnessThatCounts(t *testing.T) {
	const last, mark = 3, 4
	s := scriptOf(Config{Objects: 2}, []int{0, 1, 0, 1})
	start := func() (*witness, *state) {
		w := newWitness(s, false)
		for object := range s.keys {
			w.OnAdd(s.initialIdentity(object))
		}
		w.count(4)
		return w, newState(s)
	}
	deliver := func(w *witness, event int) {
		if !w.Counted() {
			e := s.events[event]
			w.OnUpdate(s.versionOf(e.previous), s.identity(event))
		}
	}

	w, state := start()
	for event := 0; event <= mark; event++ {
		deliver(w, event)
		state.sent(event)
	}
	assert.Len(t, w.marked, 1)
	w.resume(state)
	deliver(w, 0)
	assert.NoError(t, w.verify(5, state))

	t.Run("one is missing", func(t *testing.T) {
		w, _ := start()
		for _, event := range []int{0, 1, last, mark} {
			deliver(w, event)
		}
		assert.Empty(t, w.marked, "the mark was taken for an update")
	})
	t.Run("one too many", func(t *testing.T) {
		w, state := start()
		for _, event := range []int{0, 1, 1, 2, last, mark} {
			deliver(w, event)
		}
		assert.Error(t, w.verify(4, state))
	})
	t.Run("not the last state", func(t *testing.T) {
		w, state := start()
		for event := 0; event <= mark; event++ {
			deliver(w, event)
			state.sent(event)
		}
		w.resume(state)
		deliver(w, 2) // from the state of event 0, but event 2 was sent last
		assert.Error(t, w.verify(5, state))
	})
}

// The latency of merged events counts from the oldest of them.
func TestMergedEventsAreLateSinceTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scriptOf(Config{Objects: 2}, []int{0, 1, 0, 0, 1, 1, 0, 1})
		w := newWitness(s, true)
		c := clock{witness: w, laps: make([]int32, len(s.keys))}
		const first = 8 + 2 // in the second lap
		var newest atomic.Int64
		began := time.Now()
		c.start(began, load.NewPacer(began, 1), first, &newest)

		deliver := func(at time.Duration, number int) time.Duration {
			time.Sleep(at - time.Since(began))
			newest.Store(int64(number))
			c.latency = bench.Histogram{}
			c.observe(number % s.laps)
			return c.latency.Max()
		}
		// Numbers 10, 11 and 14 are of object 0, due at 0 s, 1 s and 4 s; the handler gets the
		// last.
		assert.Equal(t, 5*time.Second, deliver(5*time.Second, 14))
		// Object 0 follows with 16, due at 6 s, and 18, due at 8 s: merged again.
		assert.Equal(t, 4*time.Second, deliver(10*time.Second, 18))
		// Object 1 was first due at 2 s.
		assert.Equal(t, 9*time.Second, deliver(11*time.Second, 17))
	})
}
