package scenes

import (
	"context"
	"fmt"
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

var backOff = Scene{
	Name:    "back-off",
	Summary: "a key fails six times, and once more after Forget",
	Happens: "A controller of configmaps reconciles web. The server answers six reads with 500, so six passes " +
		"fail; the seventh succeeds. Later one more pass fails.",
	Look: "Watch the delay of web run down. It doubles with each failure, until Forget.",
	Options: stage.Options{
		Bare: true, Gated: true, Follow: []string{"queue.retried", "queue.delayEnded", "queue.got", "queue.forgotten"},
	},
	Lesson: display.Lesson{
		Learnt: []string{
			"Back-off is state of a key: a limiter counts the failures of each key, and each failure doubles the delay of that key alone. Other keys go on.",
			"Forget sets the count to 0. Without it a key that has recovered still has its failures, and its next failure waits as if it had never recovered.",
			"A delayed key is not queued and no worker holds it. It costs an entry in a heap, and all keys share one timer.",
		},
		Read: []display.Reading{
			{File: "queue/ratelimiters.go", Why: "When and Forget: how long a failed key is delayed"},
			{Gear: "queue", Form: gears.Textbook, File: "queue/delaying.go", Why: "AddAfter: a heap of deadlines and one timer"},
			{Gear: "queue", Form: gears.Fast, File: "queue/fast/delaying.go", Why: "AddAfter: a heap of deadlines and one timer"},
			{File: "nsctl/controller.go", Why: "a worker that calls AddRateLimited, Forget and Done"},
			{File: "workshop/labs/09-delays/README.md", Why: "the lab in which you write the delays and the limiters"},
		},
	},
	workers: 1,
	play:    playBackOff,
}

func playBackOff(ctx context.Context, on *stage.Stage) error {
	const first, longest = 200 * time.Millisecond, time.Minute
	const failures, before = 6, 3
	fails := func(times int) error {
		const fault = "internal-error:verb=get,resource=configmaps,user=%s,count=%d"
		_, err := on.Fault(fmt.Sprintf(fault, stage.SpectatorsUser, times))
		return err
	}
	retried := func(n uint64) error {
		return awaitRun(ctx, on, fmt.Sprintf("failure %d", n), func(s *trace.State) bool {
			return queueOf(s).Retried >= n
		})
	}
	return inOrder(
		func() error {
			chapter(on, "fails", "each pass reads the object from the server, which answers 500 six times")
			return fails(failures)
		},
		func() error {
			condition, err := gate.ParseCondition(fmt.Sprintf("failures>%d", before-1))
			on.Gates().Close(gate.G5, condition)
			return err
		},
		func() error {
			return startPlain(ctx, on, stage.Plain{Workers: 1, FirstDelay: first, LongestDelay: longest, Reads: true},
				story.NameOf(gate.FailKey))
		},
		func() error { return retried(before) },
		func() error {
			chapter(on, "held", "three passes have failed; the fourth is held at the gate G5")
			return ask(ctx, on)
		},
		func() error {
			chapter(on, "on", "G5 is open: three more passes fail, and then one succeeds")
			on.Gates().Open(gate.G5)
			return retried(before + 1)
		},
		func() error { on.Guide().Reveal(); return nil },
		func() error { return awaitRun(ctx, on, "a pass that succeeds", atRest) },
		func() error {
			chapter(on, "end", "the pass has succeeded, and Forget has cleared the failures; now one more pass fails")
			return fails(1)
		},
		func() error { return labelled(ctx, on, gate.FailKey, 1) },
		func() error { return retried(failures + 1) },
		func() error { return awaitRun(ctx, on, "an empty queue", atRest) },
		func() (err error) {
			on.Teller().Update(func(s *story.State) {
				delays := strings.Join(told(s, 0, story.Queue, "retry in "), ", ")
				s.Figure("delays of "+gate.FailKey, "%s", delays)
				err = bench.Prove("delays of "+gate.FailKey, "200ms, 400ms, 800ms, 1.6s, 3.2s, 6.4s, 200ms", delays)
			})
			if on.Guide() != nil {
				return nil
			}
			return err
		},
	)
}
