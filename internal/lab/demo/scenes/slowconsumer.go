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
	"orrery/wait"
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

func playSlowConsumer(ctx context.Context, on *stage.Stage) error {
	const updates, step = 5, 350 * time.Millisecond
	gates := on.Gates()
	var see func()
	begin := 0 // the number of beats before the consumer goes on
	return inOrder(
		func() error {
			return startPlain(ctx, on, stage.Plain{Workers: 1}, "red", "green", "blue")
		},
		func() error {
			return awaitRun(ctx, on, "three passes", func(s *trace.State) bool {
				return queueOf(s).Done == 3 && atRest(s)
			})
		},
		func() error {
			chapter(on, "start", "an informer has listed three configmaps and watches them")
			return wait.Sleep(ctx, look)
		},
		func() error {
			chapter(on, "late", "the consumer is held at the gate G2, before its next Pop; the watch goes on")
			gates.Close(gate.G2, gate.Condition{})
			for n := range updates {
				if err := inOrder(
					func() error { return labelled(ctx, on, gate.SlowKey, n) },
					func() error { return wait.Sleep(ctx, step) },
				); err != nil {
					return err
				}
			}
			return inOrder(
				func() error { return labelled(ctx, on, "shop/green", 1) },
				func() error { return on.DeleteConfigMap(ctx, story.NameOf(gate.SlowKey)) },
			)
		},
		func() error {
			return awaitRun(ctx, on, "seven more deltas", func(s *trace.State) bool {
				return informerOf(s).FIFO.Queued >= 3+updates+2
			})
		},
		func() (err error) {
			chapter(on, "list", "the watch breaks and expires: the reflector lists again, without "+gate.SlowKey)
			see, err = blind(ctx, on, func() error { return labelled(ctx, on, "shop/green", 2) })
			return err
		},
		func() error {
			see()
			return awaitRun(ctx, on, "a second list", func(s *trace.State) bool {
				return informerOf(s).Reflector.Lists >= 2
			})
		},
		func() error { return ask(ctx, on) },
		func() error {
			chapter(on, "pop", "G2 lets one Pop through after the other")
			begin = len(on.Teller().State().Beats)
			for range 3 {
				if gates.Step(gate.G2); wait.Sleep(ctx, look) != nil {
					return ctx.Err()
				}
			}
			gates.Open(gate.G2)
			return awaitRun(ctx, on, "an empty queue", atRest)
		},
		func() (err error) {
			chapter(on, "end", "the controller is at rest")
			pops := 1
			if on.Form("deltafifo") == gears.InOrder {
				pops = updates + 1
			}
			on.Teller().Update(func(s *story.State) {
				popped := told(s, begin, story.FIFO, gate.SlowKey+": popped with ")
				all := strings.Join(popped, "")
				deltas := strings.Count(all, "Updated") + strings.Count(all, "Deleted")
				s.Figure("Pops of "+gate.SlowKey, "%d: %s", len(popped), strings.Join(popped, "; "))
				s.Figure("in the store", "%d objects", informerOf(s.Run).Store.Total)
				err = cmp.Or(
					bench.Prove("Pops of "+gate.SlowKey, pops, len(popped)),
					bench.Prove("deltas of them", updates+1, deltas),
					bench.Prove("objects in the store", 2, int(informerOf(s.Run).Store.Total)),
				)
			})
			return conclude(on, err)
		},
	)
}
