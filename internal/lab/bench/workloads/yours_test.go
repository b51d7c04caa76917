package workloads_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	. "orrery/internal/lab/bench/workloads"
)

// yours is the subject of docs/measure/bench.md: one lock, one condition.
type yours struct{}

func (yours) Name() string { return "yours" }

func (yours) New(options QueueOptions) Queue {
	q := &yourQueue{Queue: TextbookQueue().New(options), waiting: map[string]bool{}, held: map[string]bool{}}
	q.changed.L = &q.mu
	return q
}

type yourQueue struct {
	Queue         // the textbook's, for delays
	mu            sync.Mutex
	changed       sync.Cond
	keys          []string
	waiting, held map[string]bool
	down          bool
}

func (q *yourQueue) Add(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.waiting[key] && !q.held[key] {
		q.keys = append(q.keys, key)
	}
	q.waiting[key] = true
	q.changed.Signal()
}

func (q *yourQueue) Get() (key string, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.keys) == 0 && !q.down {
		q.changed.Wait()
	}
	if len(q.keys) == 0 {
		return "", true
	}
	key, q.keys = q.keys[0], q.keys[1:]
	delete(q.waiting, key)
	q.held[key] = true
	return key, false
}

func (q *yourQueue) Done(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.held, key)
	if q.waiting[key] {
		q.keys = append(q.keys, key)
		q.changed.Signal()
	}
}

func (q *yourQueue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.keys)
}

func (q *yourQueue) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.down = true
	q.changed.Broadcast()
	q.Queue.ShutDown()
}

// The lines on the page are a queue that passes the proof.
func TestTheQueueOfThePage(t *testing.T) {
	cfg := &QueueConfig{Producers: 3, Workers: 4, Keys: 200, Load: bench.Load{
		Distribution: bench.Hot, Duration: 30 * time.Millisecond, Rate: 10_000, Seed: 1,
	}}
	result, err := RunQueue(t.Context(), yours{}, cfg, nil)
	require.NoError(t, err)
	assert.Len(t, result.Proof, 2)
}
