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
	Happens: "A namespace is filled with objects of ten types and then deleted. A few custom resources have a finalizer: their operator must act before they go.",
	Look:    "Watch the order: pods first, then everything else, then the objects whose finalizer their operator removes, and the namespace last.",
	Lesson: display.Lesson{
		Learnt: []string{
			"DELETE only marks a namespace: deletionTimestamp and phase Terminating. It goes when spec.finalizers is empty, and the namespace controller empties it.",
			"An event passes through every gear once: watch event, delta, pop, store, handler, queue. The handler only puts the name into the queue; the worker reads the rest from the server.",
			"The first pass starts 5 s after the deletion, because other API servers may admit objects until then. The next one starts after half the estimate for the remaining content plus one second, but after no longer than the deletion has taken so far, and sooner if the namespace changes.",
			"Pods go first and alone, so that what they depend on, network policies above all, outlives them.",
		},
		Read: []display.Reading{
			{Gear: "nsctl", Form: gears.Textbook, File: "nsctl/deleter.go", Why: "one pass over a namespace, top to bottom"},
			{Gear: "nsctl", Form: gears.Fast, File: "nsctl/fast/pass.go", Why: "one pass over a namespace, several types in parallel"},
			{File: "nsctl/controller.go", Why: "handlers, workers, and when the next pass is due"},
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
