package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
)

// resyncPeriod is the period of the auditor, the handler that is resynced.
const resyncPeriod = 10 * time.Second

var resync = Scene{
	Name:    "resync",
	Options: Options{Bare: true, Gated: true, Follow: []string{"deltafifo"}},
	workers: 1,
	play:    playResync,
}

func playResync(on *Stage, ctx context.Context) error {
	names := []string{"blue", "green", "grey", "red"}
	requests, expected := uint64(0), "blue, green, grey"
	others := func(s *story.State) bool { return len(synced(s)) >= len(names)-1 }
	due := soon("a Sync for the other keys", others)
	if on.Gears.Form("deltafifo") == gears.InOrder { // a resync is one item, which has its place behind red
		expected += ", red"
		due = pause(resyncPeriod)
	}
	return script(
		startPlain(Plain{Workers: 1, Resync: resyncPeriod}, names...),
		awaitRun("an empty queue", func(s *trace.State) bool {
			return informerOf(s).FIFO.Popped >= uint64(len(names))
		}),
		chapter("start", "an informer has listed four configmaps and watches them"),
		pause(look),
		chapter("held", gate.HeldKey+" changes and is held at the gate G2, before its Pop"),
		closeGate(gate.G2, "key=="+gate.HeldKey),
		label(gate.HeldKey, "n=1"),
		awaitRun("a change of red", func(s *trace.State) bool {
			return informerOf(s).FIFO.Queued > uint64(len(names))
		}),
		ask,
		chapter("due", fmt.Sprintf("another handler is added, with a resync period of %v", resyncPeriod)),
		func(on *Stage, _ context.Context) error {
			on.Teller.Update(func(s *story.State) { requests = s.Run.Requests.Started })
			return on.AddHandler("auditor", resyncPeriod)
		},
		due,
		pause(2*look),
		chapter("wave", "G2 is open: the queue is popped, and the auditor gets OnUpdate for objects that have not "+
			"changed"),
		openGate(gate.G2),
		soon("an empty queue", func(s *story.State) bool { return atRest(s.Run) && others(s) }),
		pause(look),
		conclude(func(_ *Stage, s *story.State) error {
			keys, sent := strings.Join(synced(s), ", "), s.Run.Requests.Started-requests
			s.Figure("keys with a Sync", "%s", keys)
			s.Figure("requests meanwhile", "%d", sent)
			return cmp.Or(
				bench.Prove("keys with a Sync", expected, keys),
				bench.Prove("requests during the resync", 0, int(sent)),
			)
		}),
	)(on, ctx)
}

// synced returns the names of the keys that have had a Sync. The queue in order tells of it only
// when they are popped.
func synced(s *story.State) (names []string) {
	for _, beat := range s.Beats {
		if e := beat.Event; strings.HasPrefix(e.Name, "deltafifo.") && strings.Contains(e.Deltas, "S") {
			names = append(names, story.NameOf(e.Key))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
