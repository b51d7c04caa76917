package queuebench

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

func TestEveryScenarioProvesItsWork(t *testing.T) {
	proofs := map[string]string{}
	for _, subject := range Subjects() {
		for _, scenario := range Scenarios(subject) {
			outcome, err := scenario.Run(context.Background(), bench.Quick, nil)
			require.NoError(t, err, "%s %s", subject.Name(), scenario.Name)
			assert.NotEmpty(t, outcome.Figures)
			assert.NotEmpty(t, outcome.Proof)
			if proof := proofs[scenario.Name]; proof != "" {
				assert.Equal(t, proof, outcome.Proof)
			}
			proofs[scenario.Name] = outcome.Proof
		}
	}
	assert.Len(t, proofs, 6)
}

// broken is a queue with a mistake.
type broken struct {
	Queue
	n         atomic.Int64
	add, done func(q *broken, key string)
	addAfter  func(q *broken, key string, after time.Duration)
}

func (q *broken) Add(key string)         { q.add(q, key) }
func (q *broken) Done(key string)        { q.done(q, key) }
func (q *broken) AddRateLimited(string)  { q.n.Add(1) }
func (q *broken) NumRequeues(string) int { return 0 }
func (q *broken) AddAfter(key string, after time.Duration) {
	q.addAfter(q, key, after)
}

// every says true at every n-th call.
func (q *broken) every(n int64) bool { return q.n.Add(1)%n == 0 }

type brokenSubject struct {
	Subject
	change func(*broken)
}

func (s brokenSubject) New(options Options) Queue {
	q := &broken{
		Queue:    s.Subject.New(options),
		add:      func(q *broken, key string) { q.Queue.Add(key) },
		done:     func(q *broken, key string) { q.Queue.Done(key) },
		addAfter: func(q *broken, key string, after time.Duration) { q.Queue.AddAfter(key, after) },
	}
	s.change(q)
	return q
}

// mistakes are what a queue may do wrong, and the scenarios that have to notice.
var mistakes = map[string]struct {
	change  func(*broken)
	noticed []string
}{
	"loses keys": {
		func(q *broken) {
			q.add = func(q *broken, key string) {
				if !q.every(1111) {
					q.Queue.Add(key)
				}
			}
		},
		[]string{ScenarioCycle, ScenarioCycleMetrics, ScenarioPipeline},
	},
	"invents keys": {
		func(q *broken) {
			q.add = func(q *broken, key string) {
				q.Queue.Add(key)
				if q.every(1111) {
					q.Queue.Add(key + "'")
				}
			}
		},
		[]string{ScenarioCycle, ScenarioCycleMetrics, ScenarioPipeline},
	},
	"hands keys out again": {
		func(q *broken) {
			q.done = func(q *broken, key string) {
				if q.every(1111) {
					q.Queue.Add(key)
				}
				q.Queue.Done(key)
			}
		},
		[]string{ScenarioCycle, ScenarioCycleMetrics, ScenarioPipeline},
	},
	"loses delayed keys": {
		func(q *broken) {
			q.addAfter = func(q *broken, key string, after time.Duration) {
				if !q.every(55) {
					q.Queue.AddAfter(key, after)
				}
			}
		},
		[]string{ScenarioAddAfter},
	},
	"ends delays early": {
		func(q *broken) {
			q.addAfter = func(q *broken, key string, after time.Duration) {
				if q.every(55) {
					after = 0
				}
				q.Queue.AddAfter(key, after)
			}
		},
		[]string{ScenarioAddAfter},
	},
	"counts no failures": {func(*broken) {}, []string{ScenarioAddRateLimited}},
}

// In a bubble, because a workload waits for a key that is lost.
func TestMistakesAreNoticed(t *testing.T) {
	for name, mistake := range mistakes {
		for _, scenario := range Scenarios(brokenSubject{Orrery(), mistake.change}) {
			for _, noticed := range mistake.noticed {
				if scenario.Name != noticed {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					_, err := scenario.Run(t.Context(), bench.Quick, nil)
					var proof *bench.ProofError
					assert.ErrorAs(t, err, &proof, "%s, %s", scenario.Name, name)
				})
			}
		}
	}
}

func TestScenariosEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, scenario := range Scenarios(Orrery()) {
		_, err := scenario.Run(ctx, bench.Quick, nil)
		assert.ErrorIs(t, err, context.Canceled, scenario.Name)
	}
	_, err := Run(ctx, Orrery(), with(Config{}), nil)
	assert.ErrorIs(t, err, context.Canceled)
}

func short() *Config {
	return with(Config{Keys: 500, Load: load.Load{Duration: 30 * time.Millisecond}})
}

func TestRun(t *testing.T) {
	for _, subject := range Subjects() {
		for _, d := range load.Distributions() {
			cfg := short()
			cfg.Distribution, cfg.Producers, cfg.Workers = d, 3, 5
			meter := new(bench.Meter)
			result, err := Run(t.Context(), subject, cfg, meter)
			require.NoError(t, err, "%s, %s", subject.Name(), d)
			for _, name := range []string{"processed", "added", "rate for latency"} {
				figure, ok := result.Figure(name)
				assert.True(t, ok && figure.Value > 0, "%s is %v", name, figure)
			}
			assert.Positive(t, result.Latency.Count())
			assert.Len(t, result.Proof, 2)
		}
	}
}

func TestRunWithMetricsRateAndCost(t *testing.T) {
	cfg := short()
	cfg.Metrics, cfg.Rate, cfg.HandlerCost = true, 3000, time.Microsecond
	result, err := Run(t.Context(), Orrery(), cfg, nil)
	require.NoError(t, err)
	rate, _ := result.Figure("rate for latency")
	assert.Equal(t, 3000.0, rate.Value)
	assert.LessOrEqual(t, result.Latency.Count(), uint64(90))
}

// A machine may be so busy that the time is up before a producer begins.
func TestARunInNoTimeMeasuresSomething(t *testing.T) {
	result, err := Run(t.Context(), Orrery(), with(Config{Keys: 500, Load: load.Load{Duration: 1}}), nil)
	require.NoError(t, err)
	processed, _ := result.Figure("processed")
	assert.Positive(t, processed.Value)
	assert.Positive(t, result.Latency.Count())
}

// Keys that wait for a slow worker are not lost.
func TestSlowHandlersGetTheirTime(t *testing.T) {
	for _, cost := range []time.Duration{50 * time.Millisecond, 3 * time.Second, patience / 2} {
		synctest.Test(t, func(t *testing.T) {
			cfg := Config{HandlerCost: cost, Producers: 2, Workers: 1, Keys: 100, Load: load.Load{Distribution: load.Uniform}}
			keys := load.NewKeys(cfg.Keys, cfg.Distribution, 1)
			r := &run{Config: cfg, keys: keys, indexOf: keys.Index(), cells: make([]cell, cfg.Keys), cost: load.NewCost(cost)}
			p, err := r.phase(t.Context(), Orrery(), "slowly", time.Second, 100)
			require.NoError(t, err, cost)
			assert.Equal(t, 100, p.added)
			assert.Positive(t, p.processed)
		})
	}
}

// scripted hands out these keys and then says shutdown.
type scripted struct {
	Queue
	keys []string
}

func (q *scripted) Get() (key string, shutdown bool) {
	if len(q.keys) == 0 {
		return "", true
	}
	key, q.keys = q.keys[0], q.keys[1:]
	return key, false
}

func TestRunNoticesInventedKeysAndSharedOnes(t *testing.T) {
	keys := load.NewKeys(3, load.Uniform, 1)
	q := Orrery().New(Options{})
	phaseOf := func(handedOut ...string) *phase {
		p := &phase{run: &run{keys: keys, indexOf: keys.Index(), cells: make([]cell, 3)}}
		p.guard = watch(t.Context(), &scripted{q, handedOut}, nil)
		t.Cleanup(p.Close)
		return p
	}
	p := phaseOf(keys.All()...)
	p.worker(t.Context())
	assert.NoError(t, p.prove(t.Context()))
	assert.Equal(t, 3, p.processed)

	p = phaseOf(keys.Key(1), "another")
	p.worker(t.Context())
	assert.ErrorContains(t, p.prove(t.Context()), "nobody had added")

	p = phaseOf(keys.Key(1))
	p.cells[1].held.Store(true) // by another worker
	p.worker(t.Context())
	assert.ErrorContains(t, p.prove(t.Context()), "two workers")
}

// Ctrl-C does not wait for a backlog of hours.
func TestNobodyWorksOffTheBacklogOfARunThatIsBrokenOff(t *testing.T) {
	keys := load.NewKeys(3, load.Uniform, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &phase{run: &run{keys: keys, indexOf: keys.Index(), cells: make([]cell, 3), Config: Config{HandlerCost: time.Hour}, cost: load.NewCost(time.Hour)}}
	p.guard = watch(t.Context(), Orrery().New(Options{}), nil)
	for _, key := range keys.All() {
		p.q.Add(key)
	}
	p.Close()
	p.worker(ctx)
	assert.Equal(t, 3, p.processed)
}

func TestRunNoticesLostKeys(t *testing.T) {
	p := &phase{run: &run{keys: load.NewKeys(3, load.Uniform, 1), cells: make([]cell, 3)}}
	p.guard = watch(t.Context(), Orrery().New(Options{}), nil)
	defer p.Close()
	assert.True(t, p.settled())
	p.cells[1].due.Store(1)
	assert.False(t, p.settled(), "an event that no worker has dealt with")
	assert.Error(t, p.prove(t.Context()))
	assert.NoError(t, p.prove(t.Context()), "the cells are clean for the next phase")
}

func TestBackoffs(t *testing.T) {
	first, longest := Options{}.Backoffs()
	assert.Equal(t, []time.Duration{5 * time.Millisecond, MaxBackoff}, []time.Duration{first, longest})
	first, longest = Options{Backoff: farFuture}.Backoffs()
	assert.Equal(t, []time.Duration{farFuture, farFuture}, []time.Duration{first, longest})
}
