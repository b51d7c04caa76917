package demo

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/informer"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/queue"
	"orrery/restclient/api"
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

// recorder returns a recorder that ends with the test.
func recorder(t *testing.T) *trace.Recorder {
	recorder, err := trace.Start(trace.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { recorder.Stop("over") })
	return recorder
}

// waits reports the key of each item that goes on.
func waits(ctx context.Context, gates *Gates, passed chan<- string, id GateID, key string) {
	go func() {
		gates.Wait(ctx, Item{Gate: id, Resource: "r", Key: key})
		passed <- key
	}()
	synctest.Wait()
}

// An item stops waiting when its context ends, and others move up. The gates open for good with the
// run.
func TestGatesAndContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, end := context.WithCancel(t.Context())
		recorder := recorder(t)
		gates, passed := NewGates(running, recorder), make(chan string, 3)
		gates.Close(G5, Filter{})
		ctx, cancel := context.WithCancel(t.Context())
		waits(ctx, gates, passed, G5, "a")
		waits(t.Context(), gates, passed, G5, "b")
		cancel()
		assert.Equal(t, "a", <-passed)
		assert.Equal(t, []string{"b"}, keys(recorder, G5))
		require.NoError(t, gates.Do(web.Command{Do: "close", Gate: "G5", Resource: "other"}))
		assert.Equal(t, "b", <-passed, "what the gate does not hold any more goes on")

		gates.Close(G5, Filter{})
		waits(t.Context(), gates, passed, G5, "c")
		assert.Empty(t, passed)
		end()
		assert.Equal(t, "c", <-passed)
		gates.Close(G5, Filter{})
		waits(t.Context(), gates, passed, G5, "d")
		assert.Equal(t, "d", <-passed)
	})
}

// The item that has waited longest goes first, over all gates as well.
func TestGatesStepInTheOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := recorder(t)
		gates, passed := NewGates(t.Context(), recorder), make(chan string, 5)
		require.NoError(t, gates.Do(web.Command{Do: "close", Gate: "G7", Resource: "r"}))
		require.NoError(t, gates.Do(web.Command{Do: "close", Gate: "G5"}))
		_, changed := gates.State()
		waits(t.Context(), gates, passed, G7, "a")
		select {
		case <-changed:
		default:
			assert.Fail(t, "the page is not told of an item that begins to wait")
		}
		waits(t.Context(), gates, passed, G5, "b")
		waits(t.Context(), gates, passed, G7, "c")
		waits(t.Context(), gates, passed, G5, "d")
		for _, want := range []string{"a", "b", "c"} {
			require.NoError(t, gates.Do(web.Command{Do: "step"}))
			assert.Equal(t, want, <-passed)
		}
		waits(t.Context(), gates, passed, G5, "e")
		gates.Step(G7)
		assert.Equal(t, []string{"d", "e"}, keys(recorder, G5))
		gates.Step(G5)
		assert.Equal(t, "d", <-passed)
		assert.EqualError(t, gates.Do(web.Command{Do: "open", Gate: "G1"}), `there is no gate "G1"`)
		require.NoError(t, gates.Do(web.Command{Do: "release"}))
		assert.Equal(t, "e", <-passed)
	})
}

// Without gates nothing is held, and without a reader nothing is asked.
func TestGatesNilHoldNothing(t *testing.T) {
	var gates *Gates
	gates.Chapter("first")
	require.NoError(t, gates.Ask(t.Context()))
	gates.Reveal()
	gates.Close(G2, Filter{})
	gates.Step(G2)
	gates.Release()
	assert.Nil(t, HoldQueue(gates, "plain", nil))
	assert.Nil(t, HoldInformer(gates, informer.Config[*api.Namespace]{}).WrapHandler)
	gates = NewGates(t.Context(), nil)
	gates.Guide(Question{Scene: "stuck"})
	assert.False(t, gates.Guided())
}
