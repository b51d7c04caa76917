package scenes

import (
	"context"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

var finalizer = Scene{
	Name:    "finalizer",
	Summary: "a namespace hangs in Terminating because no operator removes a finalizer",
	Happens: "A few custom resources have a finalizer, and their operator is not running. The namespace hangs in Terminating until it runs.",
	Look:    "Watch the conditions, which name what the namespace waits for, and the pauses between the passes.",
	Lesson: display.Lesson{
		Learnt: []string{
			"The conditions with status True say why a namespace hangs: kubectl get namespace NAME -o yaml.",
			"Waiting for a finalizer is not a failure, so there is no back-off: a second pass after 5 s, then one every 8 s (half of the estimated 15 s plus one second), sooner if the namespace changes.",
			"The controller writes its conditions only if they changed; otherwise its own update would wake it forever.",
			"The remedy is the operator that owns the finalizer. Removing \"kubernetes\" from spec.finalizers by hand removes the namespace and leaves its content behind, hidden.",
		},
		Read: []display.Reading{
			{File: "nsctl/conditions.go", Why: "the five conditions, and when they change"},
			{File: "nsctl/resources.go", Why: "what remains, and how long it may take"},
			{File: "nsctl/errors.go", Why: "which errors become a condition"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		// Passes that find nothing new: the one that reports, one caused by that report, and one more.
		const idle = 2
		passes := 0
		return inOrder(
			func() error { on.Guide().Chapter("fill"); return nil },
			func() error {
				return toFinalizers(ctx, on,
					func() error { return ask(ctx, on) },
					func() error { on.Guide().Chapter("deleted"); return nil },
				)
			},
			func() error { return on.Await(ctx, reported("NamespaceFinalizersRemaining")) },
			func() error { passes = on.Teller().State().Gears.Passes; return nil },
			func() error { return on.ShowWhy(ctx) },
			func() error { return on.Await(ctx, func(s *story.State) bool { return s.Gears.Busy == 0 }) },
			func() error { on.Guide().Reveal(); return nil },
			func() error {
				return on.Await(ctx, func(s *story.State) bool { return s.Gears.Passes >= passes+idle-1 && s.Gears.Busy == 0 })
			},
			func() error { return wait.Sleep(ctx, look) },
			func() error { on.Tell(story.Operator, "starts at last"); return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
