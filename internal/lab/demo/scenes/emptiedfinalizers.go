package scenes

import (
	"context"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

var emptiedFinalizers = Scene{
	Name:    "emptied-finalizers",
	Summary: "spec.finalizers is emptied by hand, and what was left comes back",
	Happens: "The namespace hangs, because nobody works off the finalizer of a few custom resources. Somebody empties spec.finalizers by hand, and later creates a namespace of the same name.",
	Look:    "Look at the lowest bar when the namespace has gone, and at what the new one contains.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Emptying spec.finalizers tells the server that nobody has anything to clean up any more. It believes that, and the namespace goes with the request.",
			"What was in it stays in the store, under the name of a namespace that does not exist. No list of namespaces shows it any more, and whatever its owner wanted to clean up has not been.",
			"A namespace is its name: the next one of that name has the old content, from its first moment on.",
			"The way out is the way that was avoided: find out who holds the content, and let the owner finish.",
		},
		Read: []display.Reading{
			{File: "nsctl/finalizers_test.go", Why: "the same as a test"},
			{File: "nsctl/conditions.go", Why: "what says why a namespace hangs"},
			{File: "internal/lab/apiserver/registry/namespaces.go", Why: "when the server lets a namespace go"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		// The look that was planned for the first namespace is over.
		idle := func(s *story.State) bool { return s.Gears.Later == 0 && s.Gears.Ready == 0 && s.Gears.Busy == 0 }
		return inOrder(
			func() error { return toFinalizers(ctx, on) },
			func() error { return on.Await(ctx, reported("NamespaceFinalizersRemaining")) },
			func() error { return on.ShowWhy(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.EmptyFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
			func() error {
				state := on.Teller().State()
				crontabs, _ := state.TypeNamed("crontabs")
				on.Tell(story.Demo, "the namespace has gone, and %d crontabs have not", crontabs.Left)
				return wait.Sleep(ctx, 2*look)
			},
			func() error { return on.CreateNamespace(ctx) },
			func() error { return on.Await(ctx, func(s *story.State) bool { return s.Namespace.Phase == "Active" }) },
			func() error { return on.ShowContent(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.Await(ctx, idle) },
			func() error { return on.DeleteNamespace(ctx) },
			func() error { return on.Await(ctx, reported("NamespaceFinalizersRemaining")) },
			func() error {
				on.Tell(story.Demo, "and the new namespace hangs as the old one did")
				return wait.Sleep(ctx, look)
			},
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
