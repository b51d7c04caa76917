package trace_test

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/internal/observe/trace"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient/api"
)

type chromeEvent struct {
	Phase    string  `json:"ph"`
	Name     string  `json:"name"`
	Category string  `json:"cat"`
	ID       string  `json:"id"`
	PID      int     `json:"pid"`
	TID      int     `json:"tid"`
	At       float64 `json:"ts"`
	Duration float64 `json:"dur"`
	Args     struct {
		Waiting *int64 `json:"waiting"`
	} `json:"args"`
}

// The file has the structure that trace viewers expect: slices of a track nest, asynchronous spans
// and flows have two ends in order, and every track is named.
func TestChromeTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "run.json")
		r, check := start(t, trace.Config{Chrome: name})
		namespaces := r.Namespaces()
		q := queue.NewRateLimiting(nil, queue.Config[string]{Trace: r.Queue("namespace")})
		for _, key := range []string{"a", "b", "c"} {
			q.Add(key)
		}
		q.AddAfter("d", time.Hour)
		for range 3 {
			key, _ := q.Get()
			time.Sleep(time.Second)
			end := namespaces.Phase(key, nsctl.PhasePods)
			time.Sleep(time.Second)
			end()
			if key != "c" { // it is cut by the end of the recording
				q.Done(key)
			}
		}
		check()
		events := readChrome(t, name)
		checkChrome(t, events)
		count := map[string]int{}
		for _, e := range events {
			count[e.Phase]++
		}
		assert.Equal(t, 6, count["X"], "three passes with a phase each")
		assert.Equal(t, 4, count["b"], "three keys waited, and one for its delay")
	})
}

// What waits at a gate has no slice meanwhile but that of the gate, so the others have the time of
// the gears alone.
func TestChromeTraceOfHeldItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "run.json")
		r, check := start(t, trace.Config{Chrome: name})
		namespaces, handlers := r.Namespaces(), r.Informer("namespaces")
		q := queue.NewRateLimiting(nil, queue.Config[string]{Trace: r.Queue("namespace")})
		hold := func(gate, in, key string) {
			r.Held(gate, in, key)
			time.Sleep(time.Hour)
		}
		q.Add("a")
		key, _ := q.Get()
		hold("G5", "namespace", key)
		r.Stepped("G5", "namespace", key)
		time.Sleep(time.Second)
		end := namespaces.Phase(key, nsctl.PhasePods)
		time.Sleep(time.Second)
		r.Held("G6", "secrets", key+"/x") // two requests of one pass
		hold("G6", "pods", key)
		r.Stepped("G6", "pods", key)
		time.Sleep(time.Hour)
		r.Released("G6")
		time.Sleep(time.Second)
		end()
		time.Sleep(time.Second)
		hold("G7", "namespace", key)
		q.Done(key) // the queue shuts down, which the gates report later

		listeners := []informer.HandlerInfo{{Informer: "namespaces", Handler: "one", ID: 1}, {Informer: "namespaces", Handler: "two", ID: 2}}
		call := informer.EventInfo{Number: 1, Key: "b", Kind: informer.EventAdd}
		for _, h := range listeners {
			handlers.HandlerCalled(h, call)
			time.Sleep(time.Second)
		}
		hold("G4", "namespaces", "b") // of the second one
		handlers.Handled(listeners[0], call, time.Hour)
		r.Stepped("G4", "namespaces", "b")
		time.Sleep(time.Second)
		handlers.Handled(listeners[1], call, time.Hour)

		q.Add("c")
		key, _ = q.Get()
		hold("G5", "namespace", key)
		q.Add("d") // the last event; c is still held
		check()

		events := readChrome(t, name)
		checkChrome(t, events)
		took := map[string]time.Duration{}
		for _, e := range events {
			if e.Phase == "X" {
				took[e.Name] += time.Duration(e.Duration * float64(time.Microsecond))
			}
		}
		for name := range took {
			took[name] = took[name].Round(time.Microsecond)
		}
		assert.Equal(t, map[string]time.Duration{
			"a": 4 * time.Second, string(nsctl.PhasePods): 2 * time.Second, "c": 0, "add b": time.Hour + 4*time.Second,
			"held at G4": time.Hour, "held at G5": 2 * time.Hour, "held at G6": 2 * time.Hour, "held at G7": time.Hour,
		}, took)
	})
}

// A counter shows the last depth of a busy millisecond too, and a listener's backlog falls. A flow
// leads to the pass of the queue that got the key.
func TestChromeTraceOfDepthsAndFlows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "run.json")
		r, check := start(t, trace.Config{Chrome: name})
		fifo, handlers := trace.FIFO[*api.Namespace](r, "namespaces"), r.Informer("namespaces")
		delta := deltafifo.Delta[*api.Namespace]{Type: deltafifo.Added, Object: &api.Namespace{}}
		fifo.Queued("a", delta, 1)
		fifo.Popped("a", deltafifo.Deltas[*api.Namespace]{delta}, false, 0)
		listener := informer.HandlerInfo{Informer: "namespaces", Handler: "one", ID: 1}
		handlers.HandlerQueued(listener, informer.QueuedInfo{Number: 2, Count: 2, Pending: 2})
		one, other := queue.New(queue.Config[string]{Trace: r.Queue("one")}), queue.New(queue.Config[string]{Trace: r.Queue("other")})
		for number := range uint64(2) {
			call := informer.EventInfo{Number: number + 1, Key: "a", Kind: informer.EventAdd}
			time.Sleep(time.Second)
			handlers.HandlerCalled(listener, call)
			other.Add("a")
			one.Add("a")
			time.Sleep(time.Second)
			handlers.Handled(listener, call, time.Second)
		}
		for _, q := range []queue.Interface[string]{one, other} {
			time.Sleep(time.Second)
			key, _ := q.Get()
			time.Sleep(time.Second)
			q.Done(key)
		}
		check()
		events := readChrome(t, name)
		checkChrome(t, events)
		depths, flows := map[string][]int64{}, map[int]int{}
		for _, e := range events {
			if e.Phase == "C" {
				depths[e.Name] = append(depths[e.Name], *e.Args.Waiting)
			}
			if e.Phase == "f" {
				flows[e.PID]++
			}
		}
		assert.Equal(t, map[string][]int64{"deltafifo": {1, 0}, "listener one#1": {2, 1, 0}}, depths)
		assert.Len(t, flows, 2, "each queue's pass has the arrow of its own Add")
	})
}

// readChrome returns the events of a file.
func readChrome(t *testing.T, name string) []chromeEvent {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var file struct {
		Events []chromeEvent `json:"traceEvents"`
	}
	require.NoError(t, json.Unmarshal(text, &file))
	return file.Events
}

func checkChrome(t *testing.T, events []chromeEvent) {
	t.Helper()
	named, open, flows := map[[2]int]bool{}, map[string]float64{}, map[string]float64{}
	tracks := map[[2]int][]chromeEvent{}
	for _, e := range events {
		id := e.Category + e.ID
		switch e.Phase {
		case "M":
			named[[2]int{e.PID, e.TID}] = true
		case "X":
			assert.Positive(t, e.Duration, "some viewers cannot nest a slice without length")
			tracks[[2]int{e.PID, e.TID}] = append(tracks[[2]int{e.PID, e.TID}], e)
		case "b":
			assert.NotContains(t, open, id)
			open[id] = e.At
		case "e":
			assert.Contains(t, open, id)
			assert.LessOrEqual(t, open[id], e.At)
			delete(open, id)
		case "s":
			flows[id] = e.At
		case "f":
			assert.Contains(t, flows, id)
			assert.LessOrEqual(t, flows[id], e.At)
			delete(flows, id)
		}
		assert.True(t, named[[2]int{e.PID, e.TID}], "%v has no name", e)
	}
	assert.Empty(t, open)
	assert.Empty(t, flows)
	for _, track := range tracks {
		slices.SortFunc(track, func(a, b chromeEvent) int { return cmp.Compare(a.At, b.At) })
		ends := []float64{math.Inf(1)}
		for i, s := range track {
			if i > 0 {
				assert.NotEqual(t, track[i-1].At, s.At, "%v and %v begin together", track[i-1], s)
			}
			for ends[len(ends)-1] <= s.At {
				ends = ends[:len(ends)-1]
			}
			assert.Less(t, s.At+s.Duration, ends[len(ends)-1], "%v overlaps", s)
			ends = append(ends, s.At+s.Duration)
		}
	}
}

// An input has its arguments: its name alone does not say what was done. Its time is in
// microseconds.
func TestChromeTraceOfInputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "trace.json")
		recorder, err := trace.Start(trace.Config{Chrome: file})
		require.NoError(t, err)
		time.Sleep(time.Second)
		recorder.Input("create-configmap", "red")
		recorder.Stop("done")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, string(text), `"args":"red"`)
		events := readChrome(t, file)
		i := slices.IndexFunc(events, func(e chromeEvent) bool { return e.Name == "lab.input" })
		require.GreaterOrEqual(t, i, 0)
		assert.InDelta(t, 1e6, events[i].At, 0)
	})
}
