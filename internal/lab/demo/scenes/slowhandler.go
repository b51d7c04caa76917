package scenes

import (
	"context"
	"time"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// slowness is how long the slow handler takes for each event.
const slowness = 100 * time.Millisecond

var slowHandler = Scene{
	Name:    "slow-handler",
	Summary: "a handler that takes its time, and everybody else who does not notice",
	Happens: "Two handlers listen to the informer of the configmaps. One only counts; the other takes 100 ms for each event, as one does that calls a server in its handler.",
	Look:    "Look at the two lowest bars: what waits for each. The slow one's grows without bound, and nobody else has to wait for it.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Every handler has a buffer of its own (pendingNotifications), so a slow one delays nobody but itself: not the store, not the other handlers, not the watch.",
			"The buffer has no bound. A handler that is always slower than events come fills the memory.",
			"What it hears is old: by now the objects are gone. This is why a handler should do nothing but put a key into a queue, where a key waits only once, and look at the store when its turn comes.",
		},
		Read: []display.Reading{
			{Gear: "informer", Form: gears.Textbook, File: "informer/processor.go", Why: "how an event reaches all handlers, with one buffer for each"},
			{Gear: "informer", Form: gears.Fast, File: "informer/fast/processor.go", Why: "how an event reaches all handlers, in batches that they share"},
			{Gear: "informer", Form: gears.Fast, File: "informer/fast/delivery_queue.go", Why: "what waits for one handler"},
			{Gear: "queue", Form: gears.Textbook, File: "queue/queue.go", Why: "why the work queue does not have this problem"},
			{Gear: "queue", Form: gears.Fast, File: "queue/fast/queue.go", Why: "why the work queue does not have this problem"},
			{File: "docs/faults.md", Why: "what a handler that hangs costs"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		return inOrder(
			func() error {
				on.Tell(story.Demo, "a second handler joins the informer of the configmaps; it takes %v for each event", slowness)
				return on.AddSlowHandler("configmaps", slowness)
			},
			func() error { return withChanges(ctx, on) },
			func() error { return on.Await(ctx, reported("NamespaceFinalizersRemaining")) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
			func() error { return quickOneIsDone(ctx, on) },
			func() error {
				on.Tell(story.Handler, "the namespace has gone, and the slow handler still has %d old events to hear of; the quick one has %d",
					on.Pending("configmaps", stage.SlowHandler), on.Pending("configmaps", stage.QuickHandler))
				return nil
			},
		)
	},
}

// withChanges is toFinalizers with many events for the configmaps before the deletion.
func withChanges(ctx context.Context, on *stage.Stage) error {
	return toFinalizers(ctx, on,
		func() error { return on.LabelAll(ctx, "configmaps", "checked") },
		func() error { return on.LabelAll(ctx, "configmaps", "approved") },
		func() error { return quickOneIsDone(ctx, on) },
		func() error {
			on.Tell(story.Handler, "configmaps: %d events wait for the slow handler, %d for the quick one",
				on.Pending("configmaps", stage.SlowHandler), on.Pending("configmaps", stage.QuickHandler))
			return nil
		},
	)
}

// quickOneIsDone waits the moment that the quick handler needs for what has just come.
func quickOneIsDone(ctx context.Context, on *stage.Stage) error {
	const moment = 10 * time.Millisecond
	return wait.PollUntilContextCancel(ctx, moment, false, func(context.Context) (bool, error) {
		return on.Pending("configmaps", stage.QuickHandler) == 0, nil
	})
}
