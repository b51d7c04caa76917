package demo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/wait"
)

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
		pops = append(pops, stepGate(gate.G2), pause(look))
	}
	return script(
		startPlain(Plain{Workers: 1}, "red", "green", "blue"),
		awaitRun("three passes", func(s *trace.State) bool { return queueOf(s).Done == 3 && atRest(s) }),
		chapter("start", "an informer has listed three configmaps and watches them"),
		pause(look),
		chapter("late", "the consumer is held at the gate G2, before its next Pop; the watch goes on"),
		closeGate(gate.G2, ""),
		script(changes...),
		label("green", "n=1"),
		remove(story.NameOf(redKey)),
		awaitRun("seven more deltas", func(s *trace.State) bool { return informerOf(s).FIFO.Queued >= 3+updates+2 }),
		chapter("list", "the watch breaks and expires: the reflector lists again, without "+redKey),
		blind(label("green", "n=2")),
		awaitRun("a second list", func(s *trace.State) bool { return informerOf(s).Reflector.Lists >= 2 }),
		ask,
		chapter("pop", "G2 lets one Pop through after the other"),
		do(func(on *Stage) { begin = len(on.Teller.State().Beats) }),
		script(pops...),
		openGate(gate.G2),
		awaitRun("an empty queue", atRest),
		chapter("end", "the controller is at rest"),
		conclude(func(on *Stage, s *story.State) error {
			pops := 1
			if on.Gears.Form("deltafifo") == gears.InOrder {
				pops = updates + 1
			}
			var popped []string
			deltas := 0
			for _, e := range told(s, begin, "deltafifo.popped") {
				if n := utf8.RuneCountInString(e.Deltas); e.Key == redKey {
					deltas += n
					popped = append(popped, s.Say("%d delta[s]: %s", n, story.Deltas(e.Deltas)))
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
			begin("list", "410 Expired: the informer lists everything again, after a back-off"),
		),
		stepThrough(8),
		settled(10, 8),
		chapter("end", "the second list is processed"),
		conclude(func(_ *Stage, s *story.State) error { return callsOf(s) }),
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
		on.Gates.Close(gate.G4, gate.Condition{})
		defer on.Gates.Open(gate.G4)
		return wait.PollUntilContextCancel(ctx, look, false, func(context.Context) (over bool, _ error) {
			on.Gates.Step(gate.G4)
			on.Teller.Update(func(s *story.State) { over = handled(s.Run) >= calls })
			return over, nil
		})
	}
}

// callsOf counts the calls after each type of delta, as they were told.
func callsOf(s *story.State) error {
	tally := map[string]int{}
	calls := map[string]string{"add": "OnAdd", "update": "OnUpdate", "delete": "OnDelete"}
	for _, e := range told(s, 0, "informer.applied") {
		call := cmp.Or(calls[e.Kind], "no call")
		if e.Sync { // only for handlers that are due
			call = "no call"
		}
		tally[story.Deltas(e.Deltas)+", "+call]++
	}
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		s.Figure(what, "%d", tally[what])
	}
	return bench.Prove("calls after each type of delta", fmt.Sprint(map[string]int{
		"Added, OnAdd": 1, "Deleted (tombstone), OnDelete": 1, "Replaced, OnAdd": 4, "Replaced, OnUpdate": 1,
		"Replaced, no call": 2, "Updated, OnUpdate": 1,
	}), fmt.Sprint(tally))
}
