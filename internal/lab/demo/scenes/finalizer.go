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
	Summary: "a namespace hangs in Terminating, because nobody works off a finalizer",
	Happens: "The namespace is deleted, but nobody works off the finalizer of a few custom resources: their operator is not running. The namespace hangs in Terminating until it is.",
	Look:    "Look at the conditions, which say what it hangs on, and at the pauses between the passes.",
	Lesson: display.Lesson{
		Learnt: []string{
			"A namespace that hangs says why: kubectl get namespace NAME -o yaml, the conditions with status True.",
			"Waiting for a finalizer is no failure: no back-off, a pass every 8 s (15 s by estimate, half of it and one second), sooner if the namespace changes.",
			"A report that says nothing new is not written, or the controller would wake itself for ever.",
			"The cure is the owner of the finalizer. Taking \"kubernetes\" out of spec.finalizers by hand makes the namespace go and leaves its content behind, where nobody finds it.",
		},
		Read: []display.Reading{
			{File: "nsctl/conditions.go", Why: "the five conditions and when they change"},
			{File: "nsctl/resources.go", Why: "what is left, and how long it may take"},
			{File: "nsctl/errors.go", Why: "which errors a condition shows"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		// Passes that find nothing new: the one that reports, one that was called for by the report, and one more.
		const idle = 2
		passes := 0
		return inOrder(
			func() error { return toFinalizers(ctx, on) },
			func() error { return on.Await(ctx, reported("NamespaceFinalizersRemaining")) },
			func() error { passes = on.Teller().State().Gears.Passes; return nil },
			func() error { return on.ShowWhy(ctx) },
			func() error {
				return on.Await(ctx, func(s *story.State) bool { return s.Gears.Passes >= passes+idle-1 && s.Gears.Busy == 0 })
			},
			func() error { return wait.Sleep(ctx, look) },
			func() error { on.Tell(story.Operator, "is started at last"); return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
