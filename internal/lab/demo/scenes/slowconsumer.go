package scenes

import (
	"cmp"
	"context"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
)

var slowConsumer = Scene{
	Name:    "slow-consumer",
	Summary: "seven deltas for one Pop: slots are keys, letters are deltas",
	Happens: "An informer of configmaps has a slow consumer. Red is updated five times and deleted before its " +
		"next Pop, and then a list lacks it.",
	Look: "Watch the slot of red: each letter is a delta. U is Updated, D is Deleted, and † is a deletion " +
		"that no watch reported.",
	Options: stage.Options{Bare: true, Gated: true, Follow: []string{"deltafifo"}},
	Lesson: display.Lesson{
		Learnt: []string{
			"A DeltaFIFO compresses nothing but places: a key has one slot, and one Pop hands out all of its deltas. So an object that changes often does not delay the others.",
			"Only the second of two adjacent deletions is dropped. All updates are kept, because a handler may need each step.",
			"An object that the store has and a list lacks was deleted while no watch reported it. Replace queues a tombstone for it.",
			"The queue in order (--gears deltafifo=inorder) has a place for each event: a hot object takes as many turns as it has events. In return, the store always equals one version of the server.",
		},
		Read: []display.Reading{
			{Gear: "deltafifo", Form: gears.Textbook, File: "deltafifo/fifo.go", Why: "queueActionLocked, Replace and Pop on one page"},
			{Gear: "deltafifo", Form: gears.Fast, File: "deltafifo/fast/fifo.go", Why: "the lock is free while a process function runs"},
			{Gear: "deltafifo", Form: gears.InOrder, File: "deltafifo/inorder/fifo.go", Why: "every event has its own place"},
			{File: "deltafifo/fifo.go", Why: "dedupDeltas: which delta is dropped"},
			{File: "deltafifo/inorder/doc.go", Why: "why informers upstream changed to a queue in order"},
			{File: "workshop/labs/04-deltafifo/README.md", Why: "the lab in which you write this queue"},
		},
	},
	workers: 1,
	play:    playSlowConsumer,
}

func playSlowConsumer(on *stage.Stage, ctx context.Context) error {
	const updates, between = 5, 350 * time.Millisecond
	begin := 0 // the number of beats before the consumer goes on
	var changes, pops []step
	for n := range updates {
		changes = append(changes, labelled(gate.SlowKey, n), pause(between))
	}
	for range 3 {
		pops = append(pops, stepGate(gate.G2), pause(look))
	}
	return script(
		startPlain(stage.Plain{Workers: 1}, "red", "green", "blue"),
		awaitRun("three passes", func(s *trace.State) bool { return queueOf(s).Done == 3 && atRest(s) }),
		chapter("start", "an informer has listed three configmaps and watches them"),
		pause(look),
		chapter("late", "the consumer is held at the gate G2, before its next Pop; the watch goes on"),
		closeGate(gate.G2, ""),
		script(changes...),
		labelled("shop/green", 1),
		remove(story.NameOf(gate.SlowKey)),
		awaitRun("seven more deltas", func(s *trace.State) bool { return informerOf(s).FIFO.Queued >= 3+updates+2 }),
		chapter("list", "the watch breaks and expires: the reflector lists again, without "+gate.SlowKey),
		blind(labelled("shop/green", 2)),
		awaitRun("a second list", func(s *trace.State) bool { return informerOf(s).Reflector.Lists >= 2 }),
		ask,
		chapter("pop", "G2 lets one Pop through after the other"),
		do(func(on *stage.Stage) { begin = len(on.Teller().State().Beats) }),
		script(pops...),
		openGate(gate.G2),
		awaitRun("an empty queue", atRest),
		chapter("end", "the controller is at rest"),
		conclude(func(on *stage.Stage, s *story.State) error {
			pops := 1
			if on.Gears().Form("deltafifo") == gears.InOrder {
				pops = updates + 1
			}
			popped := told(s, begin, story.FIFO, gate.SlowKey+": popped with ")
			all := strings.Join(popped, "")
			deltas := strings.Count(all, "Updated") + strings.Count(all, "Deleted")
			s.Figure("Pops of "+gate.SlowKey, "%d: %s", len(popped), strings.Join(popped, "; "))
			s.Figure("in the store", "%d objects", informerOf(s.Run).Store.Total)
			return cmp.Or(
				bench.Prove("Pops of "+gate.SlowKey, pops, len(popped)),
				bench.Prove("deltas of them", updates+1, deltas),
				bench.Prove("objects in the store", 2, int(informerOf(s.Run).Store.Total)),
			)
		}),
	)(on, ctx)
}
