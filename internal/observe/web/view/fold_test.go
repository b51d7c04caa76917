package view_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

// hooks are the hooks that the fold knows, by gear, and one that it does not.
var hooks = map[string]string{
	"reflector":      "stateChanged pageListed listed watchStarted watchEnded event bookmark backOff expired idleTimeout zombie resync storeFailed",
	"deltafifo":      "queued queued queued deduplicated ignored canceled replaced popped popped processed requeued synced closed",
	"indexer":        "added added updated deleted replaced indexFailed",
	"informer":       "started synced stopped applied distributed handlerAdded handlerQueued handlerCalled handled handlerPanicked handlerSynced handlerLagging handlerStuck handlerBlocked handlerRemoved handlerEnded resyncDue processError mutated",
	"queue":          "added added coalesced refused delayed delayCanceled delayEnded got got done done doneUnknown retried forgotten shuttingDown",
	"nsctl":          "enqueued gone passContext passStarted passDone passStuck phaseStarted phaseDone discovered typeDeleted wouldDelete conflict finalized conditionsUpdated emptinessChecked",
	"restclient":     "requestStart requestStart requestDone retry throttled warning watchOpened watchClosed finished",
	"leaderelection": "acquired renewed failed watchFailed lost released newLeader",
	"apiserver":      "requestStarted requestDone",
	"store":          "committed expired compacted",
	"lab":            "scene input held held stepped released chapter question answer",
	"trace":          "lost end",
	"unknown":        "hook",
}

// randomEvents returns events of any kind in any order, with keys that meet again.
func randomEvents(random *rand.Rand, n int) []trace.Event {
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	var names []string
	for _, gear := range []string{"reflector", "deltafifo", "indexer", "informer", "queue", "nsctl", "restclient", "leaderelection", "apiserver", "store", "lab", "trace", "unknown"} {
		for hook := range strings.FieldsSeq(hooks[gear]) {
			names = append(names, gear+"."+hook)
		}
	}
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
			In: pick("namespaces", "namespaces", "pods", ""), Key: pick("a", "b", "b", "constructor", ""), UID: pick("", "1", "2"),
			ResourceVersion: pick("", "7", "8"), Deltas: pick("A", "U", "D", "†", "S", "UD", "U†", strings.Repeat("U", 21)),
			Micros: int64(random.IntN(3) * 1500), N: int64(random.IntN(4)), M: int64(random.IntN(2) * 25),
			Handler: pick("logger#1", "logger#2"), Pass: pick("", "p-1"), Request: uint64(random.IntN(4)), Resource: pick("pods", "nodes"),
			Err: pick("", "", "it failed: <&>"), To: pick("Watching", "BackingOff"), On: pick("", "Opened"), Kind: pick("", "add", "update", "delete"),
			Phase: pick("pods", "content"), Verb: "get", Path: "/x", Text: "deprecated", Type: pick("One", "Two"), Status: "True", Reason: "because",
			Message: "é 中", Label: "scene", Arguments: "x=1", Gate: pick("G1", "G2"), Number: uint64(random.IntN(3)), Identity: pick("me", "you"),
			Page: 2, Pages: 3, Attempt: 1, Code: int64(random.IntN(2) * 503), Merged: int64(random.IntN(2)), Drain: random.IntN(2) == 0,
		}
		if events[i].Name == "trace.lost" {
			events[i].Lost = map[string]uint64{pick("queue", "indexer"): 3}
		}
	}
	return events
}

// The page and the program show the same, whatever happens.
func TestPageFoldsAsTheProgram(t *testing.T) {
	lists := [][]trace.Event{recorded(t), longSlot(), longQueue(), manyNamespaces(), manyRequests()}
	const fixed = 5
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		lists = append(lists, randomEvents(random, 5+random.IntN(150)))
	}
	var want []string
	for _, events := range lists {
		state := trace.NewState()
		for i := range events {
			state.Apply(&events[i])
		}
		text, err := json.Marshal(state)
		require.NoError(t, err)
		want = append(want, string(text))
	}
	server, _ := live(t)
	b := openTab(t, 1280, 720)
	b.do(chromedp.Navigate(server.URL()))
	text, err := json.Marshal(lists)
	require.NoError(t, err)
	found := value[[]string](b, fmt.Sprintf(`(async () => {
		const { apply, empty } = await import("./fold.js");
		return %s.map(events => JSON.stringify(events.reduce(apply, empty())));
	})()`, text))
	require.Len(t, found, len(want))
	for i := range want {
		require.JSONEq(t, want[i], found[i], "list %d: the recording, a long slot, a long queue, many namespaces, many requests, or of the seed %d", i, i-fixed)
	}
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

// longQueue returns the events of more keys than the fold has slots. Of those without a slot some
// get a second delta.
func longQueue() (events []trace.Event) {
	for n := range 5020 {
		key := fmt.Sprint(n)
		if n >= 5010 {
			key = fmt.Sprint(n - 10)
		}
		events = append(events, trace.Event{Name: "deltafifo.queued", Key: key, Deltas: "R"})
	}
	return numbered(append(events, trace.Event{Name: "deltafifo.popped", Key: "0", Deltas: "R", N: 5009}))
}

// manyNamespaces returns the events of as many namespaces as the fold has, which are gone, and of
// two more.
func manyNamespaces() (events []trace.Event) {
	for n := range 5000 {
		events = append(events, trace.Event{Name: "nsctl.gone", Key: fmt.Sprint(n), Micros: 5})
	}
	return numbered(append(events, trace.Event{Name: "nsctl.enqueued", Key: "red", UID: "1"}, trace.Event{Name: "nsctl.enqueued", Key: "blue", UID: "2"}))
}

// manyRequests returns the events of more requests than the fold keeps.
func manyRequests() (events []trace.Event) {
	for n := range uint64(60) {
		events = append(events, trace.Event{Name: "restclient.requestStart", Request: n + 1}, trace.Event{Name: "restclient.requestDone", Request: n + 1, Code: 200})
	}
	return numbered(events)
}

// recorded returns the events of a recording.
func recorded(t *testing.T) (events []trace.Event) {
	t.Helper()
	file, err := os.Open("testdata/machine.jsonl")
	require.NoError(t, err)
	defer file.Close()
	_, err = trace.Read(file, func(e *trace.Event, broken *trace.LineError) error {
		require.Nil(t, broken)
		events = append(events, *e)
		return nil
	})
	require.NoError(t, err)
	return events
}
