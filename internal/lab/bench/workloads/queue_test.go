package workloads_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
	. "orrery/internal/lab/bench/workloads"
)

// countsNoFailures is a queue that forgets how often a key failed.
type countsNoFailures struct{ Queue }

func (countsNoFailures) AddRateLimited(string)  {}
func (countsNoFailures) NumRequeues(string) int { return 0 }

// every returns a function that reports true at every n-th call.
func every(n int64) func() bool {
	var calls atomic.Int64
	return func() bool { return calls.Add(1)%n == 0 }
}

// queueMistakes are faults of a queue, with the scenarios that must detect them.
var queueMistakes = map[string]struct {
	change  func(q *changed, now func() bool)
	noticed []string
}{
	"loses keys": {
		func(q *changed, now func() bool) {
			q.add = func(key string) {
				if !now() {
					q.Queue.Add(key)
				}
			}
		},
		[]string{"queue/cycle", "queue/cycle-metrics", "queue/pipeline"},
	},
	"invents keys": {
		func(q *changed, now func() bool) {
			q.add = func(key string) {
				q.Queue.Add(key)
				if now() {
					q.Queue.Add(key + "'")
				}
			}
		},
		[]string{"queue/cycle", "queue/cycle-metrics", "queue/pipeline"},
	},
	"hands keys out again": {
		func(q *changed, now func() bool) {
			q.done = func(key string) {
				if now() {
					q.Queue.Add(key)
				}
				q.Queue.Done(key)
			}
		},
		[]string{"queue/cycle", "queue/cycle-metrics", "queue/pipeline"},
	},
	"loses delayed keys": {
		func(q *changed, now func() bool) {
			q.addAfter = func(key string, after time.Duration) {
				if !now() {
					q.Queue.AddAfter(key, after)
				}
			}
		},
		[]string{"queue/add-after"},
	},
	"ends delays early": {
		func(q *changed, now func() bool) {
			q.addAfter = func(key string, after time.Duration) {
				if now() {
					after = 0
				}
				q.Queue.AddAfter(key, after)
			}
		},
		[]string{"queue/add-after"},
	},
	"counts no failures": {
		func(q *changed, _ func() bool) { q.Queue = countsNoFailures{q.Queue} },
		[]string{"queue/add-rate-limited"},
	},
}

// In a bubble, because a workload waits for lost keys.
func TestMistakesAreNoticed(t *testing.T) {
	for name, mistake := range queueMistakes {
		broken := &subject{QueueSubject: FastQueue(), phase: paced, change: func(q *changed) {
			mistake.change(q, every(55))
		}}
		for _, scenario := range QueueScenarios(broken) {
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

func TestBackoffs(t *testing.T) {
	first, longest := QueueOptions{}.Backoffs()
	assert.Equal(t, []time.Duration{5 * time.Millisecond, MaxBackoff}, []time.Duration{first, longest})
	first, longest = QueueOptions{Backoff: time.Hour}.Backoffs()
	assert.Equal(t, []time.Duration{time.Hour, time.Hour}, []time.Duration{first, longest})
}
