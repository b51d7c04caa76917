package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/wait"
)

var storeDecides = Scene{
	Name:    "store-decides",
	Options: Options{Bare: true, Gated: true, Follow: []string{"informer"}},
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

// stepThrough shows a reader of the view what the second list brings, one object at a time, until
// the handlers have had their calls: the gate G3 holds what is stored and not distributed.
func stepThrough(calls int64) step {
	return func(on *Stage, ctx context.Context) error {
		if on.Guide == nil {
			return nil
		}
		on.Guide.Chapter("g3")
		on.Gates.Close(gate.G3, gate.Condition{})
		defer on.Gates.Open(gate.G3)
		return wait.PollUntilContextCancel(ctx, look, false, func(context.Context) (over bool, _ error) {
			on.Gates.Step(gate.G3)
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
	var all []string
	for what, n := range tally {
		all = append(all, fmt.Sprintf("%s: %d", what, n))
	}
	slices.Sort(all)
	for _, one := range all {
		what, n, _ := strings.Cut(one, ": ")
		s.Figure(what, "%s", n)
	}
	const want = "Added, OnAdd: 1; Deleted (tombstone), OnDelete: 1; Replaced, OnAdd: 4; Replaced, OnUpdate: 1; " +
		"Replaced, no call: 2; Updated, OnUpdate: 1"
	return bench.Prove("calls after each type of delta", want, strings.Join(all, "; "))
}
