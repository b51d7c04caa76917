package demo

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
)

var slowConsumer = Scene{
	Name:    "slow-consumer",
	Options: Options{Bare: true, Gated: true, Follow: []string{"deltafifo"}},
	workers: 1,
	play:    playSlowConsumer,
}

func playSlowConsumer(on *Stage, ctx context.Context) error {
	const updates, between = 5, 350 * time.Millisecond
	begin := 0 // the number of beats before the consumer goes on
	var changes, pops []step
	for n := range updates {
		changes = append(changes, label(gate.SlowKey, fmt.Sprintf("n=%d", n)), pause(between))
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
		remove(story.NameOf(gate.SlowKey)),
		awaitRun("seven more deltas", func(s *trace.State) bool { return informerOf(s).FIFO.Queued >= 3+updates+2 }),
		chapter("list", "the watch breaks and expires: the reflector lists again, without "+gate.SlowKey),
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
				if n := utf8.RuneCountInString(e.Deltas); e.Key == gate.SlowKey {
					deltas += n
					popped = append(popped, s.Say("%d delta[s]: %s", n, story.Deltas(e.Deltas)))
				}
			}
			s.Figure(s.Say("Pops of %s", gate.SlowKey), "%d: %s", len(popped), strings.Join(popped, "; "))
			s.Figure("in the store", "%d object[s]", informerOf(s.Run).Store.Total)
			return cmp.Or(
				bench.Prove("Pops of "+gate.SlowKey, pops, len(popped)),
				bench.Prove("deltas of them", updates+1, deltas),
				bench.Prove("objects in the store", 2, int(informerOf(s.Run).Store.Total)),
			)
		}),
	)(on, ctx)
}
