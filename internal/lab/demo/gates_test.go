package demo

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/restclient/api"
)

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
		gates.Close(G5, Filter{Resource: "other"})
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
		gates.Close(G7, Filter{})
		gates.Close(G5, Filter{})
		waits(t.Context(), gates, passed, G7, "a")
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
		gates.Release()
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
