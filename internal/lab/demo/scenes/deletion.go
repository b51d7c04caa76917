package scenes

import (
	"context"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/wait"
)

var deletion = Scene{
	Name:    Default,
	Summary: "a full namespace is deleted, gear by gear",
	Happens: "A namespace is filled with objects of ten types and then deleted. A few custom resources have a finalizer: somebody wants to be asked before they go.",
	Look:    "Look at the order: pods first, then everything else, what has a finalizer when its owner agrees, and the namespace last of all.",
	Lesson: display.Lesson{
		Learnt: []string{
			"DELETE only marks a namespace: deletionTimestamp and phase Terminating. It goes when spec.finalizers is empty, and the namespace controller is who empties it.",
			"An event passes through every gear once: watch event, delta, pop, store, handler, queue. The handler only puts the name into the queue; the worker reads the rest from the server.",
			"The controller looks 5 s after the deletion, since other API servers may let objects in that long. What remains decides when it looks again (half the estimate and one second), unless the namespace changes sooner.",
			"Pods go first and alone, so that what they rely on (network policies above all) outlives them.",
		},
		Read: []display.Reading{
			{Gear: "nsctl", Form: gears.Textbook, File: "nsctl/deleter.go", Why: "one pass over a namespace, top to bottom"},
			{Gear: "nsctl", Form: gears.Fast, File: "nsctl/fast/pass.go", Why: "one pass over a namespace: several types at a time"},
			{File: "nsctl/controller.go", Why: "handlers, workers, and when to look again"},
			{File: "informer/shared_index_informer.go", Why: "from the watch to the handlers"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		return inOrder(
			func() error { return toFinalizers(ctx, on) },
			func() error { return on.Await(ctx, reported("NamespaceFinalizersRemaining")) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
