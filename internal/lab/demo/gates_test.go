package gate_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web/view"
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
func waits(ctx context.Context, gates *gate.Gates, passed chan<- string, id gate.ID, key string) {
	go func() {
		gates.Wait(ctx, gate.Item{Gate: id, Resource: "r", Key: key})
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
		gates, passed := gate.New(running, recorder), make(chan string, 3)
		gates.Close(gate.G5, gate.Filter{})
		ctx, cancel := context.WithCancel(t.Context())
		waits(ctx, gates, passed, gate.G5, "a")
		waits(t.Context(), gates, passed, gate.G5, "b")
		cancel()
		assert.Equal(t, "a", <-passed)
		assert.Equal(t, []string{"b"}, keys(recorder, gate.G5))
		gates.Close(gate.G5, gate.Filter{Resource: "other"})
		assert.Equal(t, "b", <-passed, "what the gate does not hold any more goes on")

		gates.Close(gate.G5, gate.Filter{})
		waits(t.Context(), gates, passed, gate.G5, "c")
		assert.Empty(t, passed)
		end()
		assert.Equal(t, "c", <-passed)
		gates.Close(gate.G5, gate.Filter{})
		waits(t.Context(), gates, passed, gate.G5, "d")
		assert.Equal(t, "d", <-passed)
	})
}

// The item that has waited longest goes first, over all gates as well.
func TestGatesStepInTheOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := recorder(t)
		gates, passed := gate.New(t.Context(), recorder), make(chan string, 5)
		gates.Close(gate.G7, gate.Filter{})
		gates.Close(gate.G5, gate.Filter{})
		waits(t.Context(), gates, passed, gate.G7, "a")
		waits(t.Context(), gates, passed, gate.G5, "b")
		waits(t.Context(), gates, passed, gate.G7, "c")
		waits(t.Context(), gates, passed, gate.G5, "d")
		for _, want := range []string{"a", "b", "c"} {
			require.NoError(t, gates.Do(view.Command{Do: "step"}))
			assert.Equal(t, want, <-passed)
		}
		waits(t.Context(), gates, passed, gate.G5, "e")
		gates.Step(gate.G7)
		assert.Equal(t, []string{"d", "e"}, keys(recorder, gate.G5))
		gates.Step(gate.G5)
		assert.Equal(t, "d", <-passed)
		gates.Release()
	})
}

// Without gates nothing is held, and without a reader nothing is asked.
func TestGatesNilHoldNothing(t *testing.T) {
	var gates *gate.Gates
	gates.Chapter("first")
	require.NoError(t, gates.Ask(t.Context()))
	gates.Reveal()
	gates.Close(gate.G2, gate.Filter{})
	gates.Step(gate.G2)
	gates.Release()
	assert.Nil(t, gate.HoldQueue(gates, "plain", nil))
	assert.Nil(t, gate.HoldInformer(gates, informer.Config[*api.Namespace]{}).WrapHandler)
	gates = gate.New(t.Context(), nil)
	gates.Guide(gate.Question{Scene: "stuck"})
	assert.False(t, gates.Guided())
}
