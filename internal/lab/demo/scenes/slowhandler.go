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

// slowness is the slow handler's time per event.
const slowness = 100 * time.Millisecond

var slowHandler = Scene{
	Name:    "slow-handler",
	Summary: "a slow handler, and the rest of the controller that is not affected",
	Happens: "Two handlers listen to the informer of the configmaps. One only counts; the other takes 100 ms for each event, like a handler that calls a server.",
	Look:    "Watch the two lowest bars: the number of notifications that each handler has not processed. The slow handler's grows without bound; nothing else waits for it.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Every handler has its own buffer (pendingNotifications in client-go and in the textbook form), so a slow handler delays neither the store nor the other handlers nor the watch.",
			"The buffer has no bound. A handler that is always slower than the events fills the memory.",
			"Its notifications are stale: by now the objects are gone. This is why a handler should only add the key to a work queue, where a key waits once, and a worker should read the store.",
		},
		Read: []display.Reading{
			{Gear: "informer", Form: gears.Textbook, File: "informer/processor.go", Why: "how an event reaches all handlers, with one buffer each"},
			{Gear: "informer", Form: gears.Fast, File: "informer/fast/processor.go", Why: "how an event reaches all handlers, in batches that they share"},
			{Gear: "informer", Form: gears.Fast, File: "informer/fast/delivery_queue.go", Why: "the notifications that wait for one handler"},
			{Gear: "queue", Form: gears.Textbook, File: "queue/queue.go", Why: "why the work queue does not have this problem"},
			{Gear: "queue", Form: gears.Fast, File: "queue/fast/queue.go", Why: "why the work queue does not have this problem"},
			{File: "docs/operate/faults.md", Why: "what a stuck handler costs"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		return inOrder(
			func() error {
				on.Guide().Chapter("two")
				on.Tell(story.Demo, "a second handler is added to the informer of configmaps; it takes %v for each event", slowness)
				return on.AddSlowHandler("configmaps", slowness)
			},
			func() error { return ask(ctx, on) },
			func() error { on.Guide().Chapter("events"); return withChanges(ctx, on) },
			func() error { return on.Await(ctx, reported("NamespaceFinalizersRemaining")) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
			func() error { return quickOneIsDone(ctx, on) },
			func() error {
				on.Tell(story.Handler, "the namespace has gone; %d stale events still wait for the slow handler, %d for the quick one",
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
			on.Guide().Reveal()
			return nil
		},
	)
}

// quickOneIsDone waits until the quick handler has processed all events.
func quickOneIsDone(ctx context.Context, on *stage.Stage) error {
	const moment = 10 * time.Millisecond
	return wait.PollUntilContextCancel(ctx, moment, false, func(context.Context) (bool, error) {
		return on.Pending("configmaps", stage.QuickHandler) == 0, nil
	})
}
