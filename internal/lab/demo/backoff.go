package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
)

var backOff = Scene{
	Name: "back-off",
	Options: Options{
		Bare: true, Gated: true, Follow: []string{"queue.retried", "queue.delayEnded", "queue.got", "queue.forgotten"},
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
		closeGate(gate.G5, fmt.Sprintf("failures>%d", before-1)),
		startPlain(Plain{Workers: 1, Retry: 200 * time.Millisecond}, story.NameOf(gate.FailKey)),
		retried(before),
		chapter("held", "three passes have failed; the fourth is held at the gate G5"),
		ask,
		chapter("on", "G5 is open: three more passes fail, and then one succeeds"),
		openGate(gate.G5),
		retried(before+1),
		reveal,
		awaitRun("a pass that succeeds", atRest),
		chapter("end", "the pass has succeeded, and Forget has cleared the failures; now one more pass fails"),
		fails(1),
		label(gate.FailKey, "n=1"),
		retried(failures+1),
		awaitRun("an empty queue", atRest),
		conclude(func(_ *Stage, s *story.State) error {
			var all []string
			for _, e := range told(s, 0, "queue.retried") {
				all = append(all, story.Short(time.Duration(e.Micros)*time.Microsecond))
			}
			delays := strings.Join(all, ", ")
			s.Figure(s.Say("delays of %s", gate.FailKey), "%s", delays)
			return bench.Prove("delays of "+gate.FailKey, "200ms, 400ms, 800ms, 1.6s, 3.2s, 6.4s, 200ms", delays)
		}),
	)(on, ctx)
}
