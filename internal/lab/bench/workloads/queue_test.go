package workloads_test

import (
	"slices"
	"strings"
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

// queueMistakes are faults of a queue, by the scenarios that must detect them. A fault changes what
// happens to every n-th key.
var queueMistakes = map[string][]func(q *changed, now func() bool){
	"queue/cycle queue/cycle-metrics queue/pipeline": {
		func(q *changed, now func() bool) { // loses keys
			q.add = func(key string) {
				if !now() {
					q.Queue.Add(key)
				}
			}
		},
		func(q *changed, now func() bool) { // invents keys
			q.add = func(key string) {
				q.Queue.Add(key)
				if now() {
					q.Queue.Add(key + "'")
				}
			}
		},
		func(q *changed, now func() bool) { // hands keys out again
			q.done = func(key string) {
				if now() {
					q.Queue.Add(key)
				}
				q.Queue.Done(key)
			}
		},
	},
	"queue/add-after": {
		func(q *changed, now func() bool) { // loses delayed keys
			q.addAfter = func(key string, after time.Duration) {
				if !now() {
					q.Queue.AddAfter(key, after)
				}
			}
		},
		func(q *changed, now func() bool) { // ends delays early
			q.addAfter = func(key string, after time.Duration) {
				if now() {
					after = 0
				}
				q.Queue.AddAfter(key, after)
			}
		},
	},
	"queue/add-rate-limited": {
		func(q *changed, _ func() bool) { q.Queue = countsNoFailures{q.Queue} },
	},
}

// In a bubble, because a workload waits for lost keys.
func TestMistakesAreNoticed(t *testing.T) {
	for noticed, mistakes := range queueMistakes {
		for i, mistake := range mistakes {
			broken := &subject{QueueSubject: FastQueue(), phase: paced,
				change: func(q *changed) { mistake(q, every(55)) }}
			for _, scenario := range QueueScenarios(broken) {
				if !slices.Contains(strings.Fields(noticed), scenario.Name) {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					_, err := scenario.Run(t.Context(), bench.Quick)
					assert.ErrorAs(t, err, new(*bench.ProofError), "%s, mistake %d", scenario.Name, i)
				})
			}
		}
	}
}
