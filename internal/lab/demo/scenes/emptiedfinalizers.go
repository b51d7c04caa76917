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
	Summary: "spec.finalizers is emptied by hand, and the content comes back",
	Happens: "The namespace hangs because the operator of a few custom resources is not running. A user empties spec.finalizers by hand, and later creates a namespace of the same name.",
	Look:    "Watch the lowest bar when the namespace has gone, and what the new namespace contains.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Emptying spec.finalizers tells the server that the cleanup is complete. The server believes it and removes the namespace with the same request.",
			"The content stays in etcd under the name of a namespace that does not exist. No list of namespaces shows it, and its operator has cleaned up nothing.",
			"A namespace is its name: the next one of that name holds the old content from the start.",
			"The right way: find out which controller owns the finalizer, and let it finish.",
		},
		Read: []display.Reading{
			{File: "nsctl/finalizers_test.go", Why: "the same as a test"},
			{File: "nsctl/conditions.go", Why: "the conditions that say why a namespace hangs"},
			{File: "internal/lab/apiserver/registry/namespaces.go", Why: "when the server removes a namespace"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		// The pass that was scheduled for the first namespace is done.
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
