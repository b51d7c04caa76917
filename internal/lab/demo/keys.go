package demo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/observe/trace"
	"orrery/wait"
)

// The keys that scenes are about.
const (
	redKey = Namespace + "/red"
	webKey = Namespace + "/web"
)

const (
	updates     = 100 // of the key while a worker holds it
	updateEvery = 25 * time.Millisecond
	oneKeyPool  = 3 // workers
)

var oneKey = Scene{
	Name:    "one-key",
	Options: Options{Bare: true, Follow: []string{"queue"}},
	workers: oneKeyPool,
	play:    playOneKey,
}

func playOneKey(on *Stage, ctx context.Context) error {
	name := NameOf(redKey)
	var changes []step
	for n := range updates {
		changes = append(changes, func(on *Stage, ctx context.Context) error {
			return on.label(ctx, name, "n="+strconv.Itoa(n+1))
		}, pause(updateEvery))
	}
	return script(
		chapter("first", "a worker reconciles "+redKey+" and is held at the gate G7, before Done"),
		closeGate(G7, 0),
		startPlain(0, name),
		awaitRun("the first pass", func(s *trace.State) bool { return queueOf(s).Got >= 1 }),
		pause(look),
		chapter("updates", "the script updates "+redKey+" a hundred times while the worker holds it"),
		tell(You, "kubectl -n %s label configmap %s n=1, and so on up to n=%d", Namespace, name, updates),
		script(changes...),
		awaitRun("a hundred calls", func(s *trace.State) bool { return handled(s) == 1+updates }),
		ask,
		chapter("done", "G7 lets Done through: the key is dirty, so Done queues it"),
		stepGate(G7),
		pause(3*look), // a learner's queue may have lost the updates: then no pass comes
		openGate(G7),
		awaitRun("an empty queue", atRest),
		chapter("end", "the controller is at rest"),
		conclude(func(_ *Stage, s *State) error {
			q := queueOf(s.Run)
			s.Figure(s.Say("Adds of %s", redKey), "%d, of which %d found it dirty",
				q.Added+q.Coalesced, q.Coalesced)
			s.Figure(s.Say("passes over %s", redKey), "%d", q.Done)
			s.Figure("workers at once", "%d of %d", q.Workers, oneKeyPool)
			return cmp.Or(
				bench.Prove("Adds that found the key dirty", updates-1, int(q.Coalesced)),
				bench.Prove("passes over "+redKey, 2, int(q.Done)),
				bench.Prove("workers at once", 1, q.Workers),
			)
		}),
	)(on, ctx)
}

var backOff = Scene{
	Name: "back-off",
	Options: Options{
		Bare: true, Follow: []string{"queue.retried", "queue.delayEnded", "queue.got", "queue.forgotten"},
	},
	workers: 1,
	play:    playBackOff,
}

func playBackOff(on *Stage, ctx context.Context) error {
	const failures, before = 6, 3
	fails := func(times int) step {
		return fault("internal-error:verb=get,resource=configmaps,user=%s,count=%d", spectatorsUser, times)
	}
	retried := func(n uint64) step {
		return awaitRun(fmt.Sprintf("failure %d", n), func(s *trace.State) bool { return queueOf(s).Retried >= n })
	}
	return script(
		chapter("fails", "each pass reads the object from the server, which answers 500 six times"),
		fails(failures),
		closeGate(G5, before),
		startPlain(200*time.Millisecond, NameOf(webKey)),
		retried(before),
		chapter("held", "three passes have failed; the fourth is held at the gate G5"),
		ask,
		chapter("on", "G5 is open: three more passes fail, and then one succeeds"),
		openGate(G5),
		retried(before+1),
		reveal,
		awaitRun("a pass that succeeds", atRest),
		chapter("end", "the pass has succeeded, and Forget has cleared the failures; now one more pass fails"),
		fails(1),
		label(webKey, "n=1"),
		retried(failures+1),
		awaitRun("an empty queue", atRest),
		conclude(func(_ *Stage, s *State) error {
			var all []string
			for _, e := range told(s, 0, "queue.retried") {
				all = append(all, Short(time.Duration(e.Micros)*time.Microsecond))
			}
			delays := strings.Join(all, ", ")
			s.Figure(s.Say("delays of %s", webKey), "%s", delays)
			return bench.Prove("delays of "+webKey, "200ms, 400ms, 800ms, 1.6s, 3.2s, 6.4s, 200ms", delays)
		}),
	)(on, ctx)
}

var slowConsumer = Scene{
	Name:    "slow-consumer",
	Options: Options{Bare: true, Follow: []string{"deltafifo"}},
	workers: 1,
	play:    playSlowConsumer,
}

func playSlowConsumer(on *Stage, ctx context.Context) error {
	const updates, between = 5, 350 * time.Millisecond
	begin := 0 // the number of beats before the consumer goes on
	var changes, pops []step
	for n := range updates {
		changes = append(changes, label(redKey, fmt.Sprintf("n=%d", n)), pause(between))
	}
	for range 3 {
		pops = append(pops, stepGate(G2), pause(look))
	}
	return script(
		startPlain(0, "red", "green", "blue"),
		awaitRun("three passes", func(s *trace.State) bool { return queueOf(s).Done == 3 && atRest(s) }),
		chapter("start", "an informer has listed three configmaps and watches them"),
		pause(look),
		chapter("late", "the consumer is held at the gate G2, before its next Pop; the watch goes on"),
		closeGate(G2, 0),
		script(changes...),
		label("green", "n=1"),
		remove(NameOf(redKey)),
		awaitRun("seven more deltas", func(s *trace.State) bool { return informerOf(s).FIFO.Queued >= 3+updates+2 }),
		chapter("list", "the watch breaks and expires: the reflector lists again, without "+redKey),
		blind(label("green", "n=2")),
		awaitRun("a second list", func(s *trace.State) bool { return informerOf(s).Reflector.Lists >= 2 }),
		ask,
		chapter("pop", "G2 lets one Pop through after the other"),
		do(func(on *Stage) { begin = len(on.State().Beats) }),
		script(pops...),
		openGate(G2),
		awaitRun("an empty queue", atRest),
		chapter("end", "the controller is at rest"),
		conclude(func(on *Stage, s *State) error {
			pops := 1
			if on.Gears.Form("deltafifo") == gears.InOrder {
				pops = updates + 1
			}
			var popped []string
			deltas := 0
			for _, e := range told(s, begin, "deltafifo.popped") {
				if n := utf8.RuneCountInString(e.Deltas); e.Key == redKey {
					deltas += n
					popped = append(popped, s.Say("%d delta[s]: %s", n, Deltas(e.Deltas)))
				}
			}
			s.Figure(s.Say("Pops of %s", redKey), "%d: %s", len(popped), strings.Join(popped, "; "))
			s.Figure("in the store", "%d object[s]", informerOf(s.Run).Store.Total)
			return cmp.Or(
				bench.Prove("Pops of "+redKey, pops, len(popped)),
				bench.Prove("deltas of them", updates+1, deltas),
				bench.Prove("objects in the store", 2, int(informerOf(s.Run).Store.Total)),
			)
		}),
	)(on, ctx)
}

var storeDecides = Scene{
	Name:    "store-decides",
	Options: Options{Bare: true, Follow: []string{"informer"}},
	play:    playStoreDecides,
}

func playStoreDecides(on *Stage, ctx context.Context) error {
	ripe := func(name string) step { return label(name, "ripe=yes") }
	// settled waits for a number of deltas and of calls since the start.
	settled := func(deltas, calls int) step {
		what := fmt.Sprintf("%d deltas and %d calls", deltas, calls)
		return script(awaitRun(what, func(s *trace.State) bool {
			return informerOf(s).FIFO.Popped >= uint64(deltas) && handled(s) >= int64(calls)
		}), pause(2*look))
	}
	return script(
		createAll("apple", "pear", "plum"),
		chapter("first", "the store is empty; the first list has three objects"),
		startInformer(nil, "calls"),
		settled(3, 3),
		chapter("watch", "the watch reports a new object and a change"),
		create("fig"), ripe("apple"),
		settled(5, 5),
		chapter("blind", "the watch is cut, and a new one does not get through"),
		blind(script(ripe("pear"), create("kiwi"), remove("plum")),
			ask,
			begin("410 Expired: the informer lists everything again, after a back-off"),
		),
		stepThrough(8),
		settled(10, 8),
		chapter("end", "the second list is processed"),
		conclude(func(_ *Stage, s *State) error { return callsOf(s) }),
	)(on, ctx)
}

// stepThrough shows a reader of the view what the second list brings, one call at a time: the gate
// G4 holds each call of a handler when the store has its object.
func stepThrough(calls int64) step {
	return func(on *Stage, ctx context.Context) error {
		if !on.Gates.Guided() {
			return nil
		}
		on.Gates.Chapter("calls")
		on.Gates.Close(G4, Filter{})
		defer on.Gates.Open(G4)
		return wait.PollUntilContextCancel(ctx, look, false, func(context.Context) (over bool, _ error) {
			on.Gates.Step(G4)
			on.Update(func(s *State) { over = handled(s.Run) >= calls })
			return over, nil
		})
	}
}

// callsOf counts the calls after each type of delta, as they were told.
func callsOf(s *State) error {
	tally := map[string]int{}
	calls := map[string]string{"add": "OnAdd", "update": "OnUpdate", "delete": "OnDelete"}
	for _, e := range told(s, 0, "informer.applied") {
		call := cmp.Or(calls[e.Kind], "no call")
		if e.Sync { // only for handlers that are due
			call = "no call"
		}
		tally[Deltas(e.Deltas)+", "+call]++
	}
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		s.Figure(what, "%d", tally[what])
	}
	return bench.Prove("calls after each type of delta", fmt.Sprint(map[string]int{
		"Added, OnAdd": 1, "Deleted (tombstone), OnDelete": 1, "Replaced, OnAdd": 4, "Replaced, OnUpdate": 1,
		"Replaced, no call": 2, "Updated, OnUpdate": 1,
	}), fmt.Sprint(tally))
}
