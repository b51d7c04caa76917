package trace_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/trace/tracetest"
)

// allNames are the names of the events of all hooks.
var allNames = append(tracetest.Names(), strings.Fields(
	"lab.scene lab.input lab.held lab.stepped lab.released lab.chapter lab.question lab.answer")...)

// randomEvents returns events of any kind in any order, with keys that meet again.
func randomEvents(random *rand.Rand, n int) []trace.Event {
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	names := append(slices.Clone(allNames), "trace.lost", "trace.end", "unknown.hook")
	if random.IntN(2) == 0 { // of few hooks, so that they meet
		few := make([]string, 6)
		for i := range few {
			few[i] = pick(names...)
		}
		names = few
	}
	events := make([]trace.Event, n)
	for i := range events {
		events[i] = trace.Event{
			Seq: uint64(i + 1), Time: int64(1000 * i), Name: pick(names...),
			In: pick("namespaces", "namespaces", "pods", ""), Key: pick("a", "b", "b", "constructor", ""),
			UID:             pick("", "1", "2"),
			ResourceVersion: pick("", "7", "8"), Deltas: pick("A", "U", "D", "†", "S", "UD", "U†",
				strings.Repeat("U", 21)),
			Micros: int64(random.IntN(3) * 1500), N: int64(random.IntN(4)), M: int64(random.IntN(2) * 25),
			Handler: pick("logger#1", "logger#2"), Pass: pick("", "p-1"), Request: uint64(random.IntN(4)),
			Resource: pick("pods", "nodes"),
			Err:      pick("", "", "it failed: <&>"), To: pick("Watching", "BackingOff"), On: pick("", "Opened"),
			Kind:  pick("", "add", "update", "delete"),
			Phase: pick("pods", "content"), Verb: "get", Path: "/x", Text: "deprecated", Type: pick("One", "Two"),
			Status: "True", Reason: "because",
			Message: "é 中", Label: "scene", Arguments: "x=1", Gate: pick("G1", "G2"), Number: uint64(random.IntN(3)),
			Identity: pick("me", "you"),
			Page:     2, Pages: 3, Attempt: 1, Code: int64(random.IntN(2) * 503), Merged: int64(random.IntN(2)),
			Drain: random.IntN(2) == 0,
		}
		if events[i].Name == "trace.lost" {
			events[i].Lost = map[string]uint64{pick("queue", "indexer"): 3}
		}
	}
	return events
}

// Differences, applied one after the other, make the state, whatever happens.
func TestDifferencesMakeTheState(t *testing.T) {
	const fixed = 3
	lists := [fixed + 60][]trace.Event{longSlot(), manyNamespaces(), manyRequests()}
	for i := range lists[fixed:] {
		random := rand.New(rand.NewPCG(uint64(i), 0))
		lists[fixed+i] = randomEvents(random, 5+random.IntN(150))
	}
	for i, events := range lists {
		state, merged := trace.NewState(), decoded(t, trace.NewState())
		for n := range events {
			difference := state.Next(&events[n])
			if difference != nil {
				var patch map[string]any
				require.NoError(t, json.Unmarshal(difference, &patch))
				tracetest.Merge(merged, patch)
			}
			merged["s"], merged["t"] = float64(state.Seq), float64(state.Time)
			if i >= fixed || n == len(events)-1 {
				require.Equal(t, decoded(t, state), merged, "list %d, event %d: %+v, %s", i, n, events[n], difference)
			}
		}
		if i == 0 {
			require.Equal(t, &trace.SlotState{Seq: 1, Deltas: "A", N: 1},
				state.Informers["namespaces"].FIFO.Slots["red"], "what came behind the popped deltas stays")
		}
		require.True(t, i != 2 || len(state.Requests.Answered()) == 50, "an answer went to an attempt that had one")
	}
}

// decoded returns the JSON of a state.
func decoded(t *testing.T, state *trace.State) (tree map[string]any) {
	t.Helper()
	text, err := json.Marshal(state)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &tree))
	return tree
}

// numbered gives each event its number, and the informer that all of them are about.
func numbered(events []trace.Event) []trace.Event {
	for i := range events {
		events[i].Seq, events[i].Time, events[i].In = uint64(i+1), int64(i), "namespaces"
	}
	return events
}

// longSlot returns the events of a key with more deltas than a slot has letters, and two deletions.
func longSlot() (events []trace.Event) {
	for range 21 {
		events = append(events, trace.Event{Name: "deltafifo.queued", Key: "red", Deltas: "U"})
	}
	return numbered(append(events,
		trace.Event{Name: "deltafifo.queued", Key: "red", Deltas: "D"},
		trace.Event{Name: "deltafifo.queued", Key: "red", Deltas: "†"},
		trace.Event{Name: "deltafifo.queued", Key: "red", Deltas: "A"},
		trace.Event{Name: "deltafifo.popped", Key: "red", Deltas: strings.Repeat("U", 19) + "D", M: 22},
	))
}

// manyNamespaces returns the events of as many namespaces as the fold has, which are gone, and of
// two more.
func manyNamespaces() (events []trace.Event) {
	for n := range 5000 {
		events = append(events, trace.Event{Name: "nsctl.gone", Key: fmt.Sprint(n), Micros: 5})
	}
	return numbered(append(events, trace.Event{Name: "nsctl.enqueued", Key: "red", UID: "1"},
		trace.Event{Name: "nsctl.enqueued", Key: "blue", UID: "2"}))
}

// manyRequests returns the events of a request that is made more often than the fold keeps.
func manyRequests() (events []trace.Event) {
	for range 60 {
		events = append(events, trace.Event{Name: "restclient.requestStart", Request: 1},
			trace.Event{Name: "restclient.requestDone", Request: 1, Code: 200})
	}
	return numbered(events)
}
