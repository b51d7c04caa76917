package gate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web/view"
	"orrery/internal/observe/web/view/viewtest"
	"orrery/restclient"
	"orrery/restclient/api"
)

// recorder returns a recorder that ends with the test.
func recorder(t *testing.T) *trace.Recorder {
	recorder, err := trace.Start(trace.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { recorder.Stop("over") })
	return recorder
}

func TestMain(m *testing.M) { viewtest.Main(m) }

// An item stops waiting when its context ends, and others move up.
func TestGatesAndContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gates := gate.New(t.Context(), recorder(t))
		gates.Close(gate.G6, gate.Condition{})
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		errs := make(chan error, 2)
		go func() { errs <- gates.Wait(ctx, gate.Item{Gate: gate.G6, Key: "a"}) }()
		synctest.Wait()
		go func() { errs <- gates.Wait(t.Context(), gate.Item{Gate: gate.G6, Key: "b"}) }()
		synctest.Wait()
		cancel(why)
		assert.Equal(t, why, <-errs)
		assert.Equal(t, []string{"b"}, keys(gates, gate.G6))
		gates.Close(gate.G6, condition(t, "key==a"))
		assert.NoError(t, <-errs, "what the gate does not hold any more goes on")
		_, ok := gates.Step(gate.G6)
		assert.False(t, ok)
	})
}

// A run to a condition opens all gates, and closes the one of the item that ends it.
func TestGatesRunToACondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := recorder(t)
		gates := gate.New(t.Context(), recorder)
		// arrives checks which keys wait at the gate when one more has arrived.
		arrives := func(id gate.ID, key string, want ...string) {
			t.Helper()
			go func() { _ = gates.Wait(t.Context(), gate.Item{Gate: id, Key: key}) }()
			synctest.Wait()
			assert.Equal(t, want, keys(gates, id))
		}
		gates.Close(gate.G2, gate.Condition{})
		gates.Close(gate.G5, condition(t, "key==x")) // which ends with the run
		arrives(gate.G2, "a", "a")
		gates.RunTo(condition(t, "key==stop"))
		arrives(gate.G2, "b")
		arrives(gate.G5, "c")
		arrives(gate.G5, "stop", "stop")
		arrives(gate.G5, "d", "stop", "d")
		arrives(gate.G2, "e")

		gates.RunTo(condition(t, "key==never"))
		gates.Close(gate.G7, gate.Condition{})
		arrives(gate.G2, "never") // Close has ended the run
		arrives(gate.G7, "g", "g")
		gates.RunTo(condition(t, "key==never"))
		gates.Release()
		assert.Equal(t, "release", recorder.State().Lab.Input, "the end of a run is recorded")
		arrives(gate.G2, "never")
	})
}

// The item that has waited longest goes first, over all gates as well.
func TestGatesStepInTheOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gates := gate.New(t.Context(), recorder(t))
		passed := make(chan string, 5)
		for _, id := range []gate.ID{gate.G7, gate.G5} {
			gates.Close(id, gate.Condition{})
		}
		for _, item := range []gate.Item{{Gate: gate.G7, Key: "a"}, {Gate: gate.G5, Key: "b"},
			{Gate: gate.G7, Key: "c"}, {Gate: gate.G5, Key: "d"}} {
			go func() {
				_ = gates.Wait(t.Context(), item)
				passed <- item.Key
			}()
			synctest.Wait()
		}
		for range 3 {
			require.NoError(t, gates.Do(view.Command{Do: "step"}))
			synctest.Wait()
		}
		assert.Equal(t, []string{"a", "b", "c"}, []string{<-passed, <-passed, <-passed})
		go func() { _ = gates.Wait(t.Context(), gate.Item{Gate: gate.G5, Key: "e"}) }()
		synctest.Wait()
		item, ok := gates.Step(gate.G5)
		assert.True(t, ok)
		assert.Equal(t, "d", item.Key)
		assert.Equal(t, []string{"e"}, keys(gates, gate.G5))
		gates.Release()
	})
}

func TestGatesNilHoldNothing(t *testing.T) {
	var gates *gate.Gates
	gates.Close(gate.G2, gate.Condition{})
	assert.NoError(t, gates.Wait(t.Context(), gate.Item{Gate: gate.G2}))
	gates.Release()
	assert.Empty(t, gates.Waiting(gate.G2))
	assert.Nil(t, gate.HoldQueue(gates, "plain", nil))
	assert.Nil(t, gate.HoldRequests(gates, restclient.Config{}).WrapTransport)
	config := gate.HoldInformer(gates, informer.Config[*api.Namespace]{})
	assert.Nil(t, config.WrapHandler)
	assert.Zero(t, config.Reflector.IdleTimeout)
	config = gate.HoldInformer(gate.New(t.Context(), recorder(t)), config)
	assert.Negative(t, config.Reflector.IdleTimeout, "a held watch is silent")
	assert.Negative(t, config.Reflector.ListTimeout)
}

// conditions are conditions and whether they hold for an item, and for an event of the page that
// says the same.
var conditions = []struct {
	item  gate.Item
	event string
	holds map[string]bool
}{
	{gate.Item{Gate: gate.G2, Key: "shop/web", Event: "ADDED", Resource: "pods", Deltas: "AUU"},
		`{e: "deltafifo.ADDED", k: "shop/web", gate: "G2", r: "pods", d: "AUU"}`, map[string]bool{
			"": true, "key==shop/web": true, "key==web": true, "key==we": false, "key!=web": false, "key~we": true,
			"gate==G2": true, "gear==queue && event==ADDED": false, "handler==logger": false, "failures<10": false,
			"key<1": false, `resource == "pods"`: true, "verb==get": false, "failures==0": false,
			"key==x || key==y && key==web": false, "key==x && key==web || deltas~A": true,
			"key==web || gear==queue && key==x": true, "gear==deltafifo && deltas~D": false,
		}},
	{gate.Item{Gate: gate.G5, Key: "shop/web", Failures: 7}, `{e: "queue.retried", k: "shop/web", n: 7}`,
		map[string]bool{"failures>6": true, "failures>7": false, "failures<7": false, "failures<10": true}},
}

// noConditions are what is refused, and with which words.
var noConditions = map[string]string{
	"key=a":             `after "": NAME == VALUE is expected`,
	"key==a &&":         "nothing follows &&",
	"key==a || gate G2": `after "key==a ||": NAME == VALUE is expected`,
}

func TestGatesConditions(t *testing.T) {
	for _, c := range conditions {
		for text, want := range c.holds {
			assert.Equal(t, want, condition(t, text).Holds(c.item), text)
		}
	}
	for text, want := range noConditions {
		_, err := gate.ParseCondition(text)
		require.Error(t, err, text)
		assert.Equal(t, want, strings.ReplaceAll(err.Error(), `|| "`, `||"`), text)
	}
	_, err := gate.ParseCondition("kee==a")
	assert.EqualError(t, err, `"kee" is not one of key, gear, event, verb, resource, handler, deltas, failures, gate`)
}

// The filters of the page have the form of the conditions, and hold for the same.
func TestGatesConditionsAreFiltersOfThePage(t *testing.T) {
	b := viewtest.Open(t, 1280, 720)
	server, err := view.Start(view.Config{Recording: func() (io.ReadCloser, error) { return http.NoBody, nil }})
	require.NoError(t, err)
	defer server.Stop()
	b.Do(chromedp.Navigate(server.URL()))
	filter := func(text, event string) string {
		t.Helper()
		return viewtest.Value[string](b,
			fmt.Sprintf(`import("./filter.js").then(({ parseFilter }) => String(parseFilter(%q)(%s))).catch(error => error.message)`, text, event))
	}
	for _, c := range conditions {
		for text, want := range c.holds {
			assert.Equal(t, fmt.Sprint(want), filter(text, c.event), text)
		}
	}
	for text, want := range noConditions {
		assert.Equal(t, want, filter(text, "{}"), text)
	}
}
