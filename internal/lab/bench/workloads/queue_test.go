package workloads

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
)

// brokenQueue is a queue with a mistake.
type brokenQueue struct {
	Queue
	n         atomic.Int64
	add, done func(q *brokenQueue, key string)
	addAfter  func(q *brokenQueue, key string, after time.Duration)
}

func (q *brokenQueue) Add(key string)         { q.add(q, key) }
func (q *brokenQueue) Done(key string)        { q.done(q, key) }
func (q *brokenQueue) AddRateLimited(string)  { q.n.Add(1) }
func (q *brokenQueue) NumRequeues(string) int { return 0 }
func (q *brokenQueue) AddAfter(key string, after time.Duration) {
	q.addAfter(q, key, after)
}

// every returns true at every n-th call.
func (q *brokenQueue) every(n int64) bool { return q.n.Add(1)%n == 0 }

type brokenQueueSubject struct {
	QueueSubject
	change func(*brokenQueue)
}

func (s brokenQueueSubject) New(options QueueOptions) Queue {
	q := &brokenQueue{
		Queue:    s.QueueSubject.New(options),
		add:      func(q *brokenQueue, key string) { q.Queue.Add(key) },
		done:     func(q *brokenQueue, key string) { q.Queue.Done(key) },
		addAfter: func(q *brokenQueue, key string, after time.Duration) { q.Queue.AddAfter(key, after) },
	}
	s.change(q)
	return q
}

// queueMistakes are faults of a queue, with the scenarios that must detect them.
var queueMistakes = map[string]struct {
	change  func(*brokenQueue)
	noticed []string
}{
	"loses keys": {
		func(q *brokenQueue) {
			q.add = func(q *brokenQueue, key string) {
				if !q.every(1111) {
					q.Queue.Add(key)
				}
			}
		},
		[]string{"queue/cycle", "queue/cycle-metrics", "queue/pipeline"},
	},
	"invents keys": {
		func(q *brokenQueue) {
			q.add = func(q *brokenQueue, key string) {
				q.Queue.Add(key)
				if q.every(1111) {
					q.Queue.Add(key + "'")
				}
			}
		},
		[]string{"queue/cycle", "queue/cycle-metrics", "queue/pipeline"},
	},
	"hands keys out again": {
		func(q *brokenQueue) {
			q.done = func(q *brokenQueue, key string) {
				if q.every(1111) {
					q.Queue.Add(key)
				}
				q.Queue.Done(key)
			}
		},
		[]string{"queue/cycle", "queue/cycle-metrics", "queue/pipeline"},
	},
	"loses delayed keys": {
		func(q *brokenQueue) {
			q.addAfter = func(q *brokenQueue, key string, after time.Duration) {
				if !q.every(55) {
					q.Queue.AddAfter(key, after)
				}
			}
		},
		[]string{"queue/add-after"},
	},
	"ends delays early": {
		func(q *brokenQueue) {
			q.addAfter = func(q *brokenQueue, key string, after time.Duration) {
				if q.every(55) {
					after = 0
				}
				q.Queue.AddAfter(key, after)
			}
		},
		[]string{"queue/add-after"},
	},
	"counts no failures": {func(*brokenQueue) {}, []string{"queue/add-rate-limited"}},
}

// In a bubble, because a workload waits for lost keys.
func TestMistakesAreNoticed(t *testing.T) {
	for name, mistake := range queueMistakes {
		for _, scenario := range QueueScenarios(brokenQueueSubject{FastQueue(), mistake.change}) {
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
	first, longest = QueueOptions{Backoff: farFuture}.Backoffs()
	assert.Equal(t, []time.Duration{farFuture, farFuture}, []time.Duration{first, longest})
}
