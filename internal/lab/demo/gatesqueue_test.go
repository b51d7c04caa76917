package demo

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/queue"
)

// forms runs a test in a bubble with the fast, with the textbook and with further gears.
func forms(t *testing.T, test func(t *testing.T, set gears.Set), more ...string) {
	for _, text := range append([]string{gears.Fast, gears.Textbook}, more...) {
		t.Run(text, func(t *testing.T) {
			set, err := gears.Parse(text)
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) { test(t, set) })
		})
	}
}

// pool is a queue with gates and workers that note their passes.
type pool struct {
	queue.ObservableInterface[string]
	working sync.WaitGroup

	mu     sync.Mutex
	passes []string // guarded by mu
}

func startPool(t *testing.T, gates *Gates, set gears.Set, workers int) *pool {
	limiter := queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Minute)
	p := &pool{ObservableInterface: HoldQueue(gates, "work", set.NewQueue)(limiter, queue.Config[string]{})}
	for range workers {
		p.working.Go(func() {
			for key, shutdown := p.Get(); !shutdown; key, shutdown = p.Get() {
				p.mu.Lock()
				p.passes = append(p.passes, key)
				p.mu.Unlock()
				p.Done(key)
			}
		})
	}
	t.Cleanup(func() { p.ShutDown(); p.working.Wait() })
	return p
}

func (p *pool) took() (passes []string) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	passes, p.passes = p.passes, nil
	return passes
}

func TestGatesOfAWorkQueue(t *testing.T) {
	forms(t, func(t *testing.T, set gears.Set) {
		recorder := recorder(t)
		gates := NewGates(t.Context(), recorder)
		p := startPool(t, gates, set, 1)
		gates.Close(G5, Filter{})
		p.Add("a")
		p.AddRateLimited("b")
		time.Sleep(2 * time.Second)
		assert.Empty(t, p.took(), "G5 is before the pass")
		assert.Equal(t, []string{"a"}, keys(recorder, G5))
		assert.Equal(t, "a", p.Snapshot().Processing[0].Key)
		gates.Step(G5)
		assert.Equal(t, []string{"a"}, p.took())
		gates.Close(G5, Filter{Failures: 1})
		assert.Equal(t, []string{"b"}, keys(recorder, G5), "it has failed once")

		gates.Close(G7, Filter{})
		gates.Open(G5)
		assert.Equal(t, []string{"b"}, p.took(), "G7 is behind the pass")
		assert.Equal(t, []string{"b"}, keys(recorder, G7))
		for range 100 {
			p.Add("b")
		}
		p.Add("d")
		assert.Empty(t, p.took(), "the one worker waits")
		assert.True(t, p.Snapshot().Processing[0].Dirty)
		gates.Open(G7)
		assert.Equal(t, []string{"d", "b"}, p.took(), "one more pass for a hundred Adds")
	})
}

func TestGatesHoldNoLockOfAWorkQueue(t *testing.T) {
	for _, id := range []GateID{G5, G7} {
		t.Run(string(id), func(t *testing.T) {
			forms(t, func(t *testing.T, set gears.Set) {
				recorder := recorder(t)
				gates := NewGates(t.Context(), recorder)
				p := startPool(t, gates, set, 2)
				gates.Close(id, Filter{})
				p.Add("a")
				p.Add("b")
				synctest.Wait()
				require.ElementsMatch(t, []string{"a", "b"}, keys(recorder, id))
				answers(t, "Add", func() { p.Add("c") })
				answers(t, "AddAfter", func() { p.AddAfter("d", time.Second) })
				answers(t, "AddRateLimited and Forget", func() { p.AddRateLimited("a"); p.Forget("a") })
				answers(t, "Snapshot", func() { p.Snapshot() })
				p.took()
				answers(t, "ShutDownWithDrain", p.ShutDownWithDrain)
				answers(t, "the workers' end", p.working.Wait)
				assert.Contains(t, p.took(), "c", "what was queued is still done")
			})
		})
	}
}
