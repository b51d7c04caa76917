package queuebench

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

// with returns the default configuration with changes.
func with(change func(c *Config)) *Config {
	c := new(Config)
	c.AddTo(pflag.NewFlagSet("", pflag.ContinueOnError))
	change(c)
	return c
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

// every returns true at every n-th call.
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

// mistakes are faults of a queue, with the scenarios that must detect them.
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
		[]string{"queue/cycle", "queue/cycle-metrics", "queue/pipeline"},
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
		[]string{"queue/cycle", "queue/cycle-metrics", "queue/pipeline"},
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
		[]string{"queue/cycle", "queue/cycle-metrics", "queue/pipeline"},
	},
	"loses delayed keys": {
		func(q *broken) {
			q.addAfter = func(q *broken, key string, after time.Duration) {
				if !q.every(55) {
					q.Queue.AddAfter(key, after)
				}
			}
		},
		[]string{"queue/add-after"},
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
		[]string{"queue/add-after"},
	},
	"counts no failures": {func(*broken) {}, []string{"queue/add-rate-limited"}},
}

// In a bubble, because a workload waits for lost keys.
func TestMistakesAreNoticed(t *testing.T) {
	for name, mistake := range mistakes {
		for _, scenario := range Scenarios(brokenSubject{Orrery(), mistake.change}) {
			for _, noticed := range mistake.noticed {
				if scenario.Name != noticed {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					_, err := scenario.Run(t.Context(), bench.Quick)
					var proof *bench.ProofError
					assert.ErrorAs(t, err, &proof, "%s, %s", scenario.Name, name)
				})
			}
		}
	}
}

func short() *Config {
	return with(func(c *Config) { c.Keys, c.Duration, c.Rate = 500, 30*time.Millisecond, 10_000 })
}

func TestRun(t *testing.T) {
	for _, subject := range Subjects() {
		for _, d := range bench.Distributions() {
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

func TestBackoffs(t *testing.T) {
	first, longest := Options{}.Backoffs()
	assert.Equal(t, []time.Duration{5 * time.Millisecond, MaxBackoff}, []time.Duration{first, longest})
	first, longest = Options{Backoff: farFuture}.Backoffs()
	assert.Equal(t, []time.Duration{farFuture, farFuture}, []time.Duration{first, longest})
}
