package scenes

import (
	"context"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

var stuck = Scene{
	Name:    "stuck",
	Summary: "two namespaces hang, and their conditions say what, but not why",
	Happens: "A namespace hangs because a node does not answer, and no condition names yet what waits behind its pods. The next one of its name hangs because a webhook cannot be reached.",
	Look:    "Watch the conditions, and say which of them you could verify with a request of your own.",
	Lesson: display.Lesson{
		Learnt: []string{
			"The controller deletes pods first. While one of them stays, the conditions name pods only, and everything else waits untouched.",
			"A condition is what the controller saw in its last pass. It repeats types, finalizers and error messages. It does not say what has to be repaired.",
			"A webhook with failurePolicy Fail that cannot be reached refuses every deletion that it is asked about. Deleting it, or failurePolicy Ignore, ends its protection everywhere; a namespaceSelector excludes one namespace.",
			"orrery why verifies each condition by requests of its own, and names what to repair with its proof.",
		},
		Read: []display.Reading{
			{File: "nsctl/conditions.go", Why: "the five conditions, and when they change"},
			{File: "internal/why/pods.go", Why: "what keeps a pod, with its proof"},
			{File: "internal/why/admission.go", Why: "which webhook or policy refuses, with its proof"},
			{File: "docs/operate/stuck-namespaces.md", Why: "thirty causes, each with what kubectl describe says of it"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		// full is when the spectators have seen everything that was created.
		full := func(s *story.State) bool { return s.Total().Left == s.Total().Most }
		return inOrder(
			func() error { return on.Fill(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error {
				return during(on, "node-lost", func() error {
					return inOrder(
						func() error { return on.DeleteNamespace(ctx) },
						func() error { return on.Await(ctx, reported("NamespaceContentRemaining")) },
						func() error { return on.ShowWhy(ctx) },
						func() error {
							on.Tell(story.Demo, "the conditions name pods only; the crontabs wait behind them, and the controller has not touched them yet")
							return wait.Sleep(ctx, 2*look)
						},
					)
				})
			},
			func() error { on.Tell(story.Demo, "the node is back"); return on.Await(ctx, on.Emptied) },
			func() error { return on.Await(ctx, reported("NamespaceFinalizersRemaining")) },
			func() error { return on.ShowWhy(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },

			func() error { return on.Fill(ctx) },
			func() error { return on.Await(ctx, full) },
			func() error { return wait.Sleep(ctx, look) },
			func() error {
				return during(on, "webhook-unreachable:webhook=deny.policy.io,verb=delete|deletecollection,resource=configmaps", func() error {
					return inOrder(
						func() error { return on.DeleteNamespace(ctx) },
						func() error { return on.Await(ctx, reported("NamespaceDeletionContentFailure")) },
						func() error { return on.ShowWhy(ctx) },
						func() error { return wait.Sleep(ctx, 2*look) },
					)
				})
			},
			func() error { on.Tell(story.Demo, "the webhook answers again"); return on.Await(ctx, on.Emptied) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}

// during runs a part of a scene while the server has a fault.
func during(on *stage.Stage, fault string, part func() error) error {
	id, err := on.Fault(fault)
	if err != nil {
		return err
	}
	defer on.Repair(id)
	return part()
}
